from __future__ import annotations

import dataclasses
import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reports.schema import KINDS, SCHEMA_VERSION, CellRecord, EvaluationRecord, UpdateRecord, decode, encode

TEXT = st.text(max_size=12)
EVALUATIONS = st.builds(
    EvaluationRecord,
    **{
        item.name: {"str": TEXT, "int": st.integers(), "bool": st.booleans(), "int | None": st.none() | st.integers()}[
            str(item.type)
        ]
        for item in dataclasses.fields(EvaluationRecord)
    },
)
UPDATES = st.builds(
    UpdateRecord,
    study=TEXT,
    cell=TEXT,
    seed=st.integers(),
    phase=TEXT,
    update=st.integers(),
    level=TEXT,
    metrics=st.dictionaries(TEXT, st.floats(allow_nan=False)),
)


@given(EVALUATIONS | UPDATES)
def test_decoding_gives_back_what_was_encoded(record: EvaluationRecord | UpdateRecord) -> None:
    assert decode(json.loads(json.dumps(encode(record), allow_nan=False))) == record


def test_not_a_number_survives_strict_json() -> None:
    record = UpdateRecord("s", "c", 0, "rl", 1, "T1", {"loss": float("nan"), "norm": np.float32(2.0)})
    back = decode(json.loads(json.dumps(encode(record), allow_nan=False)))
    assert isinstance(back, UpdateRecord)
    assert math.isnan(back.metrics["loss"])
    assert back.metrics["norm"] == 2.0


def test_a_cell_keeps_nested_settings_and_tuples_of_names() -> None:
    cell = CellRecord(
        "s", "c", 0, "label", "sudoku", 4, "macro", "outcome", "rloo", ("T1",), (), settings={"a": {"b": [1, None]}}
    )
    assert decode(encode(cell)) == cell


def good() -> dict[str, object]:
    return encode(EvaluationRecord("s", "c", 0, "rl", 3, "sudoku", "macro", "T1", 4, "k", 0, True, 1, 2, 3, "solved"))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"schema": SCHEMA_VERSION + 1}, "schema"),
        ({"kind": "evaluations"}, "evaluations"),
        ({"solved": 1}, "solved"),
        ({"decisions": True}, "decisions"),
        ({"distance": "4"}, "distance"),
        ({"colour": "blue"}, "colour"),
    ],
)
def test_a_record_that_is_not_ours_is_refused_by_name(change: dict[str, object], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        decode(good() | change)


def test_a_missing_field_is_refused_by_name() -> None:
    values = good()
    del values["instance_key"]
    with pytest.raises(ValueError, match="instance_key"):
        decode(values)


def test_a_good_shape_does_not_let_a_bad_value_pass() -> None:
    decode(good())
    with pytest.raises(ValueError, match="attempt"):
        decode(good() | {"attempt": 1.5})


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_refuses_what_is_no_object(kind: str) -> None:
    with pytest.raises(ValueError, match="object"):
        decode([kind])
