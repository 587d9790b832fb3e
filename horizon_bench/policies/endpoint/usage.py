"""What an evaluation asked, met and paid."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from horizon_bench.policies.endpoint.answers import Answer
from horizon_bench.policies.endpoint.settings import EndpointSettings


@dataclass
class Usage:
    """Counts of one policy since it was made."""

    asked: int = 0
    """Replies that the endpoint gave."""
    kept: int = 0
    """Replies taken from the journal of an earlier call."""
    prompt_tokens: int = 0
    """Of the replies that were asked."""
    reply_tokens: int = 0
    """Of the replies that were asked."""
    kept_prompt_tokens: int = 0
    """Of the replies that were kept."""
    kept_reply_tokens: int = 0
    """Of the replies that were kept."""
    uncounted: int = 0
    """Replies whose tokens the endpoint did not count: their words are counted instead."""
    faults: Counter[str] = field(default_factory=Counter)
    """Requests that brought no reply, by what went wrong."""

    def count(self, answer: Answer, *, kept: bool) -> None:
        """Count one reply."""
        self.uncounted += not answer.counted
        if kept:
            self.kept += 1
            self.kept_prompt_tokens += answer.prompt_tokens
            self.kept_reply_tokens += answer.reply_tokens
        else:
            self.asked += 1
            self.prompt_tokens += answer.prompt_tokens
            self.reply_tokens += answer.reply_tokens

    def cost(self, settings: EndpointSettings) -> float:
        """Return what this call paid."""
        return settings.cost(self.prompt_tokens, self.reply_tokens)

    def summary(self, settings: EndpointSettings) -> str:
        """Return the counts in words, a line for each kind."""
        source = f" and {self.kept:,} kept from earlier calls" if self.kept else ""
        lines = [f"{self.asked:,} replies asked{source}"]
        tokens = f"{self.prompt_tokens:,} prompt and {self.reply_tokens:,} reply tokens"
        earlier = f"; kept: {self.kept_prompt_tokens:,} and {self.kept_reply_tokens:,}" if self.kept else ""
        lines.append(tokens + earlier)
        if settings.prompt_price or settings.reply_price:
            before = settings.cost(self.kept_prompt_tokens, self.kept_reply_tokens)
            paid = f"cost {self.cost(settings):.4f}"
            lines.append(f"{paid}, {before + self.cost(settings):.4f} with the kept ones" if self.kept else paid)
        if self.uncounted:
            lines.append(f"{self.uncounted:,} replies came without token counts; their words are counted instead")
        if self.faults:
            kinds = ", ".join(f"{kind} x {count}" for kind, count in sorted(self.faults.items()))
            lines.append(f"{self.faults.total():,} requests failed and were repeated or given up: {kinds}")
        return "\n".join(lines)
