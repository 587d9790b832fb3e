"""The same jobs through Ray: many machines instead of one.

Every machine needs horizon-bench installed and the results folder under the same path, on a disk that all share: jobs
write there themselves, and a job that needs an SFT finds it there. Only progress and outcomes travel through Ray.
"""

from __future__ import annotations

import contextlib
import queue
import threading
from collections.abc import Generator, Iterator, Sequence
from typing import Any

from horizon_bench.extras import install
from studies.pool import THREAD_VARIABLES, Event, Finished, Job, Progress, Queue, Started, Work, attempt

LOCAL = "local"
"""Address of a cluster that is started on this machine for the run and stopped after it."""


def run_jobs_on_ray(
    jobs: Sequence[Job], work: Work, workers: int, address: str = LOCAL, threads: int = 1, gpus: int = 0
) -> Generator[Event, None, None]:
    """Run all jobs on a Ray cluster, yielding what happens as it happens.

    Args:
        jobs: in the order in which they are to be started, as far as `needs` allows.
        work: the function, importable by name on every machine.
        workers: most jobs at a time; each asks Ray for `threads` processors.
        address: `local`, `auto` (the cluster that this machine belongs to) or `ray://HOST:PORT`.
        threads: threads that a job's numerical libraries may use.
        gpus: GPUs that each job asks Ray for. Ray hides all others from it, so that a job which asks for none has none.

    Yields:
        `Started`, `Progress` and, exactly once per job, `Finished`. Closing the iterator stops the jobs.

    Raises:
        ImportError: without the package ray, naming the command that installs it.
        ValueError: if `workers` or `threads` is below 1, or no cluster answers at the address.
    """
    if workers < 1 or threads < 1:
        raise ValueError(f"on Ray, workers and threads must be at least 1, not {workers} and {threads}")
    ray = _connected(address, workers * threads)
    try:
        yield from _Cluster(ray, work, threads, gpus).run(Queue(jobs), workers)
    finally:
        ray.shutdown()


def _connected(address: str, processors: int) -> Any:
    """Return the module ray, connected to the cluster."""
    try:
        import ray
    except ImportError as error:
        raise ImportError(f"running on Ray needs the package ray: {install('ray')}") from error
    # A job's own output stays on its machine, in Ray's logs: progress bars of many jobs at once help nobody.
    options: dict[str, Any] = {"log_to_driver": False, "logging_level": "error", "include_dashboard": False}
    if address == LOCAL:
        ray.init(address=LOCAL, num_cpus=processors, **options)
        return ray
    try:
        ray.init(address=address, **options)
    except (ConnectionError, ValueError, RuntimeError) as error:
        raise ValueError(
            f"no Ray cluster answers at {address!r} ({error}); start one with `ray start --head`, or use --ray {LOCAL}"
        ) from error
    return ray


class _Cluster:
    """The jobs in hand and how to hear of them."""

    def __init__(self, ray: Any, work: Work, threads: int, gpus: int) -> None:
        environment = dict.fromkeys(THREAD_VARIABLES, str(threads))
        task = ray.remote(num_cpus=threads, num_gpus=gpus, max_retries=0, runtime_env={"env_vars": environment})
        self._ray, self._work, self._remote = ray, work, task(_events)
        self._running: dict[Any, Job] = {}

    def run(self, waiting: Queue, workers: int) -> Iterator[Event]:
        """Keep as many jobs in hand as there may be until none is left."""
        try:
            while True:
                while len(self._running) < workers and (job := waiting.take()) is not None:
                    self._running[self._remote.remote(job, self._work)] = job
                    yield Started(job.key)
                if not self._running:
                    return
                # Without fetching: an object store is no place for a few words of progress on another machine.
                ready = self._ready()
                for stream in ready:
                    event = self._next(stream)
                    yield event
                    if isinstance(event, Finished):
                        del self._running[stream]
                        yield from waiting.close(event)
        finally:
            for stream in self._running:
                with contextlib.suppress(Exception):  # a job that ended meanwhile, a cluster that is gone
                    self._ray.cancel(stream, force=True)

    def _ready(self) -> list[Any]:
        """Return the jobs that have something to say."""
        try:
            ready, _ = self._ray.wait(list(self._running), num_returns=1, fetch_local=False)
        except (self._ray.exceptions.RayError, ConnectionError) as error:
            line = " ".join(str(error).split())
            raise ValueError(f"the Ray cluster is gone ({line}); start it again, the same command goes on") from error
        return list(ready)

    def _next(self, stream: Any) -> Event:
        """Return what a job says next, or that its worker died."""
        key = self._running[stream].key
        try:
            event: Event = self._ray.get(next(stream))
        except StopIteration:
            return Finished(key, error="its worker ended without a word")
        except self._ray.exceptions.RayError as error:
            line = " ".join(str(error).split())
            return Finished(key, error=f"its worker on Ray died: {line}", details=str(error))
        return event


def _events(job: Job, work: Work) -> Iterator[Event]:
    """Yield the progress of a job as it goes, then its end; runs on the worker."""
    said: queue.SimpleQueue[Event] = queue.SimpleQueue()

    def report(share: float, note: str) -> None:
        said.put(Progress(job.key, share, note))

    threading.Thread(target=lambda: said.put(attempt(job, work, report)), daemon=True).start()
    while True:
        event = said.get()
        yield event
        if isinstance(event, Finished):
            return
