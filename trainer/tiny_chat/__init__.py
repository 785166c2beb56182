"""The tiny chat model that Trainyard's demo and tests serve and train: its text, tokenizer and pretraining."""
