"""Forward and backward passes and optimizer steps, on one device or on several."""
