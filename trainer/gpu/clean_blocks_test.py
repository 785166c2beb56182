import pytest

from trainyard_engine.clean_blocks_test import require_same_answers, start  # noqa: F401  # a fixture


@pytest.mark.parametrize("backend", ["FLASH_ATTN", "TRITON_ATTN"])
def test_an_adapter_that_overflows_changes_no_answer_of_others(start, tmp_path, backend):  # noqa: F811
    require_same_answers(start("--attention-backend", backend, "--dtype", "bfloat16"), tmp_path)
