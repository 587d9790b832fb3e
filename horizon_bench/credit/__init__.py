"""Credit assignment: from what happened in an episode to one advantage for each decision."""

from horizon_bench.credit.batch import CreditBatch
from horizon_bench.credit.corrections import CORRECTIONS, Correction, correction_report, find_correction
from horizon_bench.credit.diagnostics import update_diagnostics
from horizon_bench.credit.registry import ESTIMATORS, NEEDS_VALUES, Estimator, find_estimator, register_estimator
from horizon_bench.credit.table import credit_table

__all__ = [
    "CORRECTIONS",
    "ESTIMATORS",
    "NEEDS_VALUES",
    "Correction",
    "CreditBatch",
    "Estimator",
    "correction_report",
    "credit_table",
    "find_correction",
    "find_estimator",
    "register_estimator",
    "update_diagnostics",
]
