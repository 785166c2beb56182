"""Token statistics: what a job's gradient did to every token, in one Parquet file beside the job's checkpoint."""
