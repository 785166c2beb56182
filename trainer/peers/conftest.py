"""ART replaces a function of transformers. The replacement fits no model in the trainer's version of transformers."""

from transformers import masking_utils

own = masking_utils._preprocess_mask_arguments
import art  # noqa: E402, F401  puts its replacement in place

masking_utils._preprocess_mask_arguments = own
