"""A real server, `transformers serve`, with a language model: run by `tox -e serve`, skipped where it cannot start."""

from __future__ import annotations

import contextlib
import http.client
import importlib.util
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from types import SimpleNamespace

import pytest

from curricula import load_bank
from horizon_bench.envs.settings import Settings
from horizon_bench.evaluation import evaluate
from horizon_bench.policies import make_policy
from horizon_bench.policies.chat import ChatSampling
from horizon_bench.policies.endpoint import EndpointError, EndpointPolicy

NEEDED = ("fastapi", "uvicorn", "openai")
LACKING = [name for name in NEEDED if importlib.util.find_spec(name) is None]
pytestmark = pytest.mark.skipif(bool(LACKING), reason=f"transformers serve lacks {', '.join(LACKING)}")

SETTINGS = Settings(interface="macro", observation="text", on_error="semi", max_decisions=3)


@pytest.fixture(scope="module")
def served(random_model, tmp_path_factory) -> Iterator[SimpleNamespace]:
    """Serve the random model on a free port, in a process of its own."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    log = tmp_path_factory.mktemp("serve") / "log.txt"
    program = "from transformers.cli.transformers import main; main()"
    words = ["serve", str(random_model), "--device", "cpu", "--host", "127.0.0.1", "--port", str(port)]
    environment = os.environ | {"HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}
    with log.open("w") as output:
        process = subprocess.Popen(
            [sys.executable, "-c", program, *words], stdout=output, stderr=output, env=environment
        )
    try:
        for _ in range(600):
            if process.poll() is not None or answers(port):
                break
            time.sleep(0.5)
        assert process.poll() is None, log.read_text()
        yield SimpleNamespace(url=f"http://127.0.0.1:{port}/v1", model=str(random_model))
    finally:
        process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(20)
        process.kill()


def answers(port: int) -> bool:
    try:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
        connection.request("GET", "/health")
        return connection.getresponse().status == 200
    except OSError:
        return False


def policy_of(served, **options) -> EndpointPolicy:
    sampling = options.pop("sampling", ChatSampling(max_new_tokens=12))
    policy = make_policy(f"openai:{served.model}@{served.url}", sampling=sampling, concurrency=3, **options)
    assert isinstance(policy, EndpointPolicy)
    return policy


def test_a_served_model_plays_and_its_tokens_are_counted(served):
    policy = policy_of(served, prompt_price=1.0)
    episodes = evaluate(policy, load_bank("T1", "test")[:2], SETTINGS, attempts=2)
    turns = [turn for episode in episodes for turn in episode.turns]
    assert policy.usage.asked == len(turns)
    assert not policy.usage.uncounted
    assert all(0 < turn.tokens <= 12 for turn in turns)
    assert any(turn.capped for turn in turns)


def test_the_server_reads_the_prompts_that_hf_makes_of_the_same_model(served):
    policy, here = policy_of(served), make_policy(f"hf:{served.model}")
    episodes = evaluate(policy, load_bank("T1", "test")[:2], replace(SETTINGS, max_decisions=1), attempts=1)
    prompts = here.encode([turn.observation for episode in episodes for turn in episode.turns])
    assert policy.usage.prompt_tokens == sum(map(len, prompts))


def test_thinking_is_switched_by_the_served_chat_template(served):
    here = make_policy(f"hf:{served.model}")
    lengths = []
    for thinking in (True, False):
        policy = policy_of(served, sampling=ChatSampling(max_new_tokens=2, thinking=thinking))
        evaluate(policy, load_bank("T1", "test")[:1], SETTINGS, attempts=1)
        lengths.append(policy.usage.prompt_tokens / policy.usage.asked)
    empty_thought = len(here.tokenise("<think>\n\n</think>\n\n"))
    assert lengths[1] > lengths[0]
    assert lengths[1] - lengths[0] == pytest.approx(empty_thought, abs=4)


def test_faults_before_a_real_server_lose_nothing_and_cost_nothing_twice(served, proxy, tmp_path):
    faulty = proxy(lambda number: {1: "500", 3: "429", 5: "truncated", 7: "cut", 8: "slow"}.get(number, ""))
    faulty.upstream = served
    behind = SimpleNamespace(url=faulty.url, model=served.model)
    options = {"journal": tmp_path / "kept.jsonl", "first_wait_seconds": 0.05}
    faulty_until = faulty.faults
    faulty.faults = lambda number: faulty_until(number) if number < 12 else "401"
    bank = load_bank("T1", "test")[:2]
    with pytest.raises(EndpointError, match="the same call goes on"):
        evaluate(policy_of(behind, **options), bank, SETTINGS, attempts=4)
    faulty.faults = lambda number: ""
    before = faulty.seen.total()
    policy = policy_of(behind, **options)
    episodes = evaluate(policy, bank, SETTINGS, attempts=4)
    decisions = sum(episode.decisions for episode in episodes)
    assert policy.usage.kept > 0
    assert policy.usage.kept + policy.usage.asked == decisions
    assert faulty.seen.total() - before == policy.usage.asked


def test_agents_play_on_a_served_model(served):
    for name in ("react", "reflexion", "plan"):
        agent = make_policy(
            f"{name}+openai:{served.model}@{served.url}", sampling=ChatSampling(max_new_tokens=6), concurrency=3
        )
        episodes = evaluate(agent, load_bank("T1", "test")[:1], SETTINGS, attempts=2)
        assert len(episodes) == 2
