"""Endpoints as policies: evaluations over HTTP, through every fault, resumed, counted, without a trace of keys."""

from __future__ import annotations

import json
import logging
from dataclasses import replace

import numpy as np
import pytest

from curricula import load_bank
from horizon_bench.envs.settings import Settings
from horizon_bench.evaluation import evaluate
from horizon_bench.policies import make_policy
from horizon_bench.policies.chat import ChatPolicy, ChatSampling
from horizon_bench.policies.endpoint import EndpointError, EndpointPolicy
from horizon_bench.policies.endpoint.answers import status_fault
from horizon_bench.policies.endpoint.journal import Journal

SETTINGS = Settings(interface="atomic", observation="text", on_error="strict")
FAST = {"first_wait_seconds": 0.01, "longest_wait_seconds": 0.05, "timeout_seconds": 2.0}
KEY = "sk-" + "secret" * 4
SLASHED = "sk-slash/ed+key/" + "secret" * 2


@pytest.fixture(autouse=True)
def no_key(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)


def policy_at(url: str, **options) -> EndpointPolicy:
    policy = make_policy(f"openai:expert@{url}", **(FAST | options))
    assert isinstance(policy, EndpointPolicy)
    return policy


def played(policy, count: int = 4, attempts: int = 2):
    return evaluate(policy, load_bank("T1", "test")[:count], SETTINGS, attempts=attempts, seed=7)


def moves(episodes):
    return [[turn.moves for turn in episode.turns] for episode in episodes]


def generators(count: int) -> list[np.random.Generator]:
    return [np.random.default_rng(child) for child in np.random.SeedSequence(0).spawn(count)]


def test_an_endpoint_plays_and_is_counted(server):
    policy = policy_at(server.url, prompt_price=2.0, reply_price=10.0)
    assert isinstance(policy, ChatPolicy)
    episodes = played(policy)
    assert all(episode.solved for episode in episodes)
    assert len({str(moves([episode])) for episode in episodes[:2]}) == 2, "attempts at one board must differ"
    decisions = sum(episode.decisions for episode in episodes)
    assert policy.usage.asked == len(server.bodies) == decisions
    tokens = sum(len(turn.reply.split()) for episode in episodes for turn in episode.turns)
    assert policy.usage.reply_tokens == tokens == sum(episode.tokens for episode in episodes)
    prompts = sum(len(body["messages"][0]["content"].split()) for body in server.bodies)
    assert policy.usage.cost(policy.settings) == pytest.approx((2 * prompts + 10 * tokens) / 1e6)
    assert f"{decisions:,} replies asked" in policy.summary()


def test_no_fault_changes_the_result_or_loses_a_reply(server, proxy, tmp_path):
    """Every other request meets a fault, each kind in turn; the episodes are those of a calm evaluation."""
    calm = moves(played(policy_at(server.url)))
    asked = len(server.bodies)
    trouble = proxy(lambda number: "")
    kinds = trouble.KINDS
    trouble.faults = lambda number: "" if number % 2 else kinds[number // 2 % len(kinds)]
    policy = policy_at(trouble.url, journal=tmp_path / "replies.jsonl", retries=12)
    assert moves(played(policy)) == calm
    assert set(trouble.seen) == {"", *kinds}
    assert policy.usage.asked == asked
    faults = policy.usage.faults
    assert faults["status 500"] == trouble.seen["500"]
    assert faults["status 429"] == trouble.seen["429"]
    assert faults["time-out"] >= trouble.seen["hang"]  # a busy machine can make more
    assert faults["unreadable reply"] == trouble.seen["truncated"] + trouble.seen["empty"]
    assert faults["connection"] == trouble.seen["cut"] + trouble.seen["drop"]
    assert faults.total() >= trouble.seen.total() - trouble.seen[""] - trouble.seen["slow"]
    assert f"{faults.total():,} requests failed" in policy.summary()
    assert len(Journal(tmp_path / "replies.jsonl")) == asked


def test_an_interrupted_evaluation_goes_on_without_asking_again(server, proxy, tmp_path):
    calm = moves(played(policy_at(server.url)))
    asked = len(server.bodies)
    server.bodies.clear()
    journal = tmp_path / "replies.jsonl"
    dead = proxy(lambda number: "" if number < 13 else "500")
    with pytest.raises(EndpointError, match=r"gave no reply to \d+ of \d+ requests: status 500: trouble after 2 tries"):
        played(policy_at(dead.url, journal=journal, retries=1))
    kept = len(Journal(journal))
    assert kept == len(server.bodies) == 13
    revived = policy_at(dead.url, journal=journal)
    dead.faults = lambda number: ""
    assert moves(played(revived)) == calm
    assert (revived.usage.kept, revived.usage.asked) == (kept, asked - kept)
    assert len(server.bodies) == asked
    again = policy_at(dead.url, journal=journal)
    assert moves(played(again)) == calm
    assert (again.usage.asked, again.usage.kept) == (0, asked)
    assert f"{asked:,} kept from earlier calls" in again.summary()


def test_a_journal_cut_off_by_a_kill_is_read_and_continued(server, tmp_path):
    journal = tmp_path / "replies.jsonl"
    calm = moves(played(policy_at(server.url, journal=journal)))
    lines = journal.read_bytes().split(b"\n")
    journal.write_bytes(b"\n".join(lines[:-3]) + b"\n" + lines[-3][:40])
    policy = policy_at(server.url, journal=journal)
    assert moves(played(policy)) == calm
    assert policy.usage.asked == 2
    assert len(Journal(journal)) == len(lines) - 1


def test_another_file_is_not_taken_for_a_journal(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("my notes\nmore\n")
    with pytest.raises(ValueError, match=r"notes\.txt, line 1"):
        policy_at("http://127.0.0.1:9/v1", journal=path)


def test_retry_after_holds_everybody_back(proxy):
    """After a 429 no request begins before the endpoint's time has come, whoever sends it."""
    limited = proxy(lambda number: "429" if number == 2 else "")
    limited.retry_after = "0.4"
    policy = policy_at(limited.url, concurrency=1)
    policy.reply(boards(4), [], generators(4))
    gaps = np.diff(limited.times)
    assert gaps[2] >= 0.39
    assert limited.seen.total() == 5


@pytest.mark.parametrize("wait", ["0", "Wed, 21 Oct 2015 07:28:00 GMT"])
def test_a_wait_that_is_over_does_not_use_up_the_retries(proxy, wait):
    """An endpoint that asks for no wait, or whose clock is late, is still asked again after our own back-off."""
    limited = proxy(lambda number: "429" if number < 3 else "")
    limited.retry_after = wait
    policy_at(limited.url, first_wait_seconds=0.1, longest_wait_seconds=0.1).reply(boards(1), [], generators(1))
    assert np.diff(limited.times).min() >= 0.05


def boards(count: int) -> list[str]:
    from horizon_bench.envs.puzzle_env import PuzzleEnv

    env = PuzzleEnv(level="T1", observation="text")
    return [env.reset(seed=seed)[0] for seed in range(count)]


def test_a_pause_that_is_too_long_ends_the_round(proxy):
    limited = proxy(lambda number: "429")
    limited.retry_after = "7200"
    with pytest.raises(EndpointError, match="asks to wait 7200 s"):
        policy_at(limited.url).reply(boards(1), [], generators(1))
    assert limited.seen.total() == 1


def test_requests_keep_to_the_rate_and_to_their_number_at_a_time(proxy):
    calm = proxy(lambda number: "slow")
    policy = policy_at(calm.url, concurrency=3, requests_per_minute=1200)
    policy.reply(boards(8), [], generators(8))
    assert calm.most_at_a_time <= 3
    assert calm.times[-1] - calm.times[0] >= 7 * 60 / 1200 * 0.9
    several = proxy(lambda number: "slow")
    policy_at(several.url, concurrency=8).reply(boards(8), [], generators(8))
    assert several.most_at_a_time > 1


@pytest.mark.parametrize("status", ["400", "401", "404"])
def test_a_refusal_ends_the_round_at_once(proxy, status):
    refusing = proxy(lambda number: status if number == 1 else "")
    with pytest.raises(EndpointError, match=f"gave no reply to 5 of 6 requests: status {status}: trouble; replies"):
        policy_at(refusing.url, concurrency=1).reply(boards(6), [], generators(6))
    assert refusing.seen.total() == 2


def test_an_endpoint_that_is_not_there_is_named():
    with pytest.raises(EndpointError, match=r"openai:expert@http://127\.0\.0\.1:9/v1 gave no reply to 1 of 1"):
        policy_at("http://127.0.0.1:9/v1", retries=1).reply(boards(1), [], generators(1))


def test_spending_stops_at_its_limit(server):
    policy = policy_at(server.url, prompt_price=1000.0, most_cost=0.5, concurrency=1)
    with pytest.raises(EndpointError, match=r"cost limit: 0\.5 is spent"):
        played(policy)
    assert policy.usage.cost(policy.settings) < 0.5 + 0.2


# ---------------------------------------------------------------- what is sent and read


def test_a_request_carries_the_sampling(server):
    sampling = ChatSampling(temperature=0.3, max_new_tokens=99, stop=("\nObservation:",), thinking=False)
    policy = policy_at(server.url, sampling=sampling, cap_field="max_completion_tokens", extra={"top_k": 20})
    policy.reply(boards(1), [], generators(1))
    (body,) = server.bodies
    assert body["temperature"] == 0.3
    assert body["max_completion_tokens"] == 99
    assert "max_tokens" not in body
    assert body["stop"] == ["\nObservation:"]
    assert body["chat_template_kwargs"] == {"enable_thinking": False}
    assert body["top_k"] == 20
    assert isinstance(body["seed"], int)


def test_a_stop_string_holds_even_where_the_endpoint_ignores_it(server):
    server.answer = lambda body: "Action: value(1, r1c1)\nObservation: I made this up"
    policy = policy_at(server.url, sampling=ChatSampling(stop=("\nObservation:",)))
    assert policy.reply(boards(1), [], generators(1))[0].text == "Action: value(1, r1c1)"


def test_a_separate_thought_is_put_where_the_environment_reads_it(server):
    server.message = {"reasoning_content": "1 is missing"}
    server.answer = lambda body: "Action: value(1, r1c1)"
    (reply,) = policy_at(server.url).reply(boards(1), [], generators(1))
    assert reply.text == "<think>1 is missing</think>Action: value(1, r1c1)"
    server.message = {"reasoning": "so long that value(1, r1c1)", "content": None}
    server.finish_reason = "length"
    (reply,) = policy_at(server.url).reply(boards(1), [], generators(1))
    assert reply.text == "<think>so long that value(1, r1c1)"
    assert reply.capped


@pytest.mark.parametrize(
    ("content", "read"),
    [("\ud83d half", "\ufffd half"), ([{"text": "\ud83e"}, {"text": "\udde9"}], "\U0001f9e9"), ("\x00 漢", "\x00 漢")],
)
def test_half_a_character_cannot_stop_a_study_from_writing_its_episodes(server, content, read):
    server.message = {"content": content}
    (reply,) = policy_at(server.url).reply(boards(1), [], generators(1))
    assert reply.text == read
    assert reply.text.encode()


def test_replies_without_counts_are_counted_by_words(server):
    server.usage = False
    policy = policy_at(server.url)
    (reply,) = policy.reply(boards(1), [], generators(1))
    assert reply.extra_tokens == len(reply.text.split())
    assert "came without token counts" in policy.summary()


# ---------------------------------------------------------------- keys


def test_the_key_goes_into_the_header_and_nowhere_else(server, proxy, tmp_path, monkeypatch, caplog):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    server.answer = lambda body: f"I saw {KEY}. Action: value(1, r1c1)"
    echoing = proxy(lambda number: "500" if number == 0 else "")
    journal = tmp_path / "replies.jsonl"
    policy = policy_at(echoing.url, journal=journal)
    with caplog.at_level(logging.DEBUG):
        (reply,) = policy.reply(boards(1), [], generators(1))
    assert server.headers[0]["Authorization"] == f"Bearer {KEY}"
    assert KEY not in json.dumps(server.bodies)
    dead = proxy(lambda number: "500")
    with pytest.raises(EndpointError) as error:
        policy_at(dead.url, retries=0).reply(boards(1), [], generators(1))
    assert "trouble Bearer [key]" in str(error.value)
    chained = f"{error.value.__cause__} {error.value.__context__}"
    for text in (journal.read_text(), policy.summary(), reply.text, str(error.value), chained, caplog.text):
        assert KEY not in text
    assert KEY not in repr(vars(policy)) + repr(policy.settings)


@pytest.mark.parametrize(
    "body",
    [
        json.dumps({"error": {"message": f"wrong key {SLASHED}"}}),
        json.dumps({"error": {"message": f"wrong key {SLASHED}"}}).replace("/", "\\/"),
        json.dumps({"error": f"{'x' * 290} {SLASHED}"}),
        json.dumps({"model": SLASHED, "choices": [{"message": {"content": "hm"}}]}).replace("/", "\\u002f"),
        json.dumps({"choices": [{"message": {"content": "hm", "reasoning": SLASHED}}]}).replace("/", "\\/"),
    ],
)
def test_no_spelling_of_the_key_gets_into_a_message_or_the_journal(server, body, tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", SLASHED)
    monkeypatch.setattr(server, "respond", lambda request, headers: body.encode())
    journal = tmp_path / "replies.jsonl"
    try:
        said = policy_at(server.url, retries=0, journal=journal).reply(boards(1), [], generators(1))[0].text
    except EndpointError as error:
        said = str(error)
    text = said + (journal.read_text() if journal.exists() else "")
    for part in (SLASHED, "slash/ed", "slash\\/ed", "slash\\u002fed", SLASHED[:8]):
        assert part not in text


def test_a_refusal_that_spells_the_key_otherwise_is_cleaned():
    body = json.dumps({"error": {"message": f"wrong key {SLASHED}"}}).replace("/", "\\/").encode()
    fault = status_fault(401, {}, body, lambda text: text.replace(SLASHED, "[key]"))
    assert str(fault) == "status 401: wrong key [key]"


def test_a_placeholder_for_a_key_leaves_replies_alone(server, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "1")
    server.answer = lambda body: "Action: value(1, r1c1)"
    assert policy_at(server.url).reply(boards(1), [], generators(1))[0].text == "Action: value(1, r1c1)"


def test_no_proxy_stands_between_this_machine_and_itself(server, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    policy_at(server.url, retries=0).reply(boards(1), [], generators(1))
    assert len(server.bodies) == 1


def test_a_key_never_travels_unencrypted(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with pytest.raises(ValueError, match="unencrypted") as error:
        policy_at("http://endpoint.example/v1").reply(boards(1), [], generators(1))
    assert KEY not in str(error.value)
    assert policy_at("https://endpoint.example/v1").client.key() == KEY
    assert policy_at("http://endpoint.example/v1", key_variable="").client.key() == ""


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("gpt", "should read openai:MODEL@BASE_URL"),
        ("m@ftp://host/v1", "should read"),
        ("m@http://user:sesame@host/v1", "carries more than a path"),
        ("m@http://host/v1?key=sesame", "carries more than a path"),
        ("m@http://host:99999/v1", "no http address"),
        ("m@http:///v1", "no http address"),
    ],
)
def test_a_wrong_name_is_explained_without_repeating_secrets(name, message):
    with pytest.raises(ValueError, match=message) as error:
        make_policy(f"openai:{name}")
    assert "sesame" not in str(error.value)


def test_options_are_checked():
    for option, value in (("concurrency", 0), ("retries", -1), ("timeout_seconds", 0), ("reply_price", float("nan"))):
        with pytest.raises(ValueError, match=option):
            policy_at("http://localhost/v1", **{option: value})
    with pytest.raises(ValueError, match="no option 'speed'"):
        policy_at("http://localhost/v1", speed=3)
    with pytest.raises(ValueError, match="prices are 0"):
        policy_at("http://localhost/v1", most_cost=3.0)


def test_other_settings_are_other_requests(server, tmp_path):
    """A reply at another temperature, of another model or at another address is not the same reply."""
    journal = tmp_path / "replies.jsonl"
    first = policy_at(server.url, journal=journal)
    (observation,) = boards(1)
    first.reply([observation], [], generators(1))
    warmer = first.at_temperature(0.9)
    warmer.reply([observation], [], generators(1))
    other = EndpointPolicy.load(f"other@{server.url}", journal=journal)
    other.reply([observation], [], generators(1))
    assert len(server.bodies) == 3
    assert replace(first.sampling, temperature=0.9) == warmer.sampling
