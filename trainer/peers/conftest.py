"""ART replaces a function of transformers, which then fits no model of the version that the trainer is pinned to."""

from transformers import masking_utils

own = masking_utils._preprocess_mask_arguments
import art  # noqa: E402, F401  puts its replacement in place

masking_utils._preprocess_mask_arguments = own
