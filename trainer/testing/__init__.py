"""What tests share: servers, stores, models and jobs. Programs that are shipped import none of it."""
