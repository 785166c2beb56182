// Made by "npm run gen" from the OpenAPI documents of the API server. Do not edit.

/** Each operation, by its method and path: the values in its path and its query, its body and its answer. */
export interface Operations {
  "POST /v1/preview/models": {
    path: Record<never, never>
    query: Record<never, never>
    body: { "entity"?: string | null; "project"?: string | null; "name"?: string | null; "base_model": string; "return_existing"?: boolean | null; "retention"?: { "keep_last"?: number; "keep_best"?: { "metric": string; "mode": "max" | "min"; "count": number }; "ttl_seconds"?: number } | null }
    answer: { "id": string; "entity": string; "project": string; "name": string; "base_model": string; "run_id": string; "created_at": string; "latest_step": number; "loaded_engines": number; "aliases": Record<string, number>; "retention": { "keep_last"?: number; "keep_best"?: { "metric": string; "mode": "max" | "min"; "count": number }; "ttl_seconds"?: number } | null; "forked_from": { "model_id": string; "step": number; "checkpoint_id": string | null } | null }
  }
  "GET /v1/preview/models": {
    path: Record<never, never>
    query: { "after"?: string; "limit"?: number; "max_total"?: number; "order"?: "asc" | "desc"; "project"?: string; "name"?: string }
    body: undefined
    answer: { "object": "list"; "data": { "id": string; "entity": string; "project": string; "name": string; "base_model": string; "run_id": string; "created_at": string; "latest_step": number; "loaded_engines": number; "aliases": Record<string, number>; "retention": { "keep_last"?: number; "keep_best"?: { "metric": string; "mode": "max" | "min"; "count": number }; "ttl_seconds"?: number } | null; "forked_from": { "model_id": string; "step": number; "checkpoint_id": string | null } | null }[]; "has_more": boolean; "first_id": string; "last_id": string; "total"?: number }
  }
  "GET /v1/preview/models/{model_id}": {
    path: { "model_id": string }
    query: Record<never, never>
    body: undefined
    answer: { "id": string; "entity": string; "project": string; "name": string; "base_model": string; "run_id": string; "created_at": string; "latest_step": number; "loaded_engines": number; "aliases": Record<string, number>; "retention": { "keep_last"?: number; "keep_best"?: { "metric": string; "mode": "max" | "min"; "count": number }; "ttl_seconds"?: number } | null; "forked_from": { "model_id": string; "step": number; "checkpoint_id": string | null } | null }
  }
  "DELETE /v1/preview/models/{model_id}": {
    path: { "model_id": string }
    query: Record<never, never>
    body: undefined
    answer: { "model_id": string; "deleted_checkpoints": number; "deleted_run": boolean }
  }
  "POST /v1/preview/models/{model_id}/fork": {
    path: { "model_id": string }
    query: Record<never, never>
    body: { "project"?: string | null; "name"?: string | null; "step"?: number | null }
    answer: { "id": string; "entity": string; "project": string; "name": string; "base_model": string; "run_id": string; "created_at": string; "latest_step": number; "loaded_engines": number; "aliases": Record<string, number>; "retention": { "keep_last"?: number; "keep_best"?: { "metric": string; "mode": "max" | "min"; "count": number }; "ttl_seconds"?: number } | null; "forked_from": { "model_id": string; "step": number; "checkpoint_id": string | null } | null }
  }
  "GET /v1/preview/models/{model_id}/metrics": {
    path: { "model_id": string }
    query: { "keys"?: string; "samples"?: number; "points"?: number; "x"?: "step" | "index" | "time"; "from"?: number; "to"?: number }
    body: undefined
    answer: { "metrics": { "key": string; "source": "training" | "gradient" | "logged"; "count": number; "points": { "step": number; "value": number }[]; "envelope"?: { "x": "index" | "step" | "time"; "exact": boolean; "width": number; "first": number[]; "last_x": number[]; "min": number[]; "max": number[]; "mean": number[]; "last": number[]; "count": number[] } }[] }
  }
  "GET /v1/preview/models/{model_id}/metric-keys": {
    path: { "model_id": string }
    query: Record<never, never>
    body: undefined
    answer: { "keys": { "key": string; "source": "training" | "gradient" | "logged"; "count": number; "last": number | null }[] }
  }
  "PUT /v1/preview/models/{model_id}/retention": {
    path: { "model_id": string }
    query: Record<never, never>
    body: { "keep_last"?: number; "keep_best"?: { "metric": string; "mode": "max" | "min"; "count": number }; "ttl_seconds"?: number } | null
    answer: { "id": string; "entity": string; "project": string; "name": string; "base_model": string; "run_id": string; "created_at": string; "latest_step": number; "loaded_engines": number; "aliases": Record<string, number>; "retention": { "keep_last"?: number; "keep_best"?: { "metric": string; "mode": "max" | "min"; "count": number }; "ttl_seconds"?: number } | null; "forked_from": { "model_id": string; "step": number; "checkpoint_id": string | null } | null }
  }
  "GET /v1/preview/models/{model_id}/retention": {
    path: { "model_id": string }
    query: Record<never, never>
    body: undefined
    answer: { "retention": { "keep_last"?: number; "keep_best"?: { "metric": string; "mode": "max" | "min"; "count": number }; "ttl_seconds"?: number } | null }
  }
  "GET /v1/preview/models/{model_id}/aliases": {
    path: { "model_id": string }
    query: Record<never, never>
    body: undefined
    answer: { "object": "list"; "data": { "alias": string; "step": number; "updated_at": string }[]; "has_more": boolean; "first_id": string; "last_id": string }
  }
  "PUT /v1/preview/models/{model_id}/aliases/{alias}": {
    path: { "model_id": string; "alias": string }
    query: Record<never, never>
    body: { "step": number }
    answer: { "alias": string; "step": number; "updated_at": string }
  }
  "DELETE /v1/preview/models/{model_id}/aliases/{alias}": {
    path: { "model_id": string; "alias": string }
    query: Record<never, never>
    body: undefined
    answer: { "alias": string; "deleted": true }
  }
  "GET /v1/preview/models/{model_id}/checkpoints": {
    path: { "model_id": string }
    query: { "after"?: string; "limit"?: number; "order"?: "asc" | "desc"; "max_total"?: number }
    body: undefined
    answer: { "object": "list"; "data": { "id": string; "step": number; "metrics": Record<string, number>; "created_at": string; "size": number | null; "loaded_on": string[] }[]; "has_more": boolean; "first_id": string; "last_id": string; "total"?: number }
  }
  "DELETE /v1/preview/models/{model_id}/checkpoints": {
    path: { "model_id": string }
    query: { "steps"?: string }
    body: { "steps"?: number[] }
    answer: { "deleted_count": number; "not_found_steps": number[] }
  }
  "GET /v1/preview/models/{model_id}/checkpoints/{step}": {
    path: { "model_id": string; "step": string }
    query: Record<never, never>
    body: undefined
    answer: { "id": string; "step": number; "metrics": Record<string, number>; "created_at": string; "aliases": string[]; "digest": string; "size": number; "files": { "path": string; "size": number; "digest": string }[]; "token_statistics": { "size": number; "digest": string } | null }
  }
  "GET /v1/preview/models/{model_id}/checkpoints/{step}/files": {
    path: { "model_id": string; "step": string }
    query: Record<never, never>
    body: undefined
    answer: { "object": "list"; "data": { "path": string; "size": number; "digest": string }[]; "has_more": boolean; "first_id": string; "last_id": string }
  }
  "GET /v1/preview/models/{model_id}/checkpoints/{step}/files/{path}": {
    path: { "model_id": string; "step": string; "path": string }
    query: Record<never, never>
    body: undefined
    answer: unknown
  }
  "GET /v1/preview/models/{model_id}/checkpoints/{step}/token-statistics": {
    path: { "model_id": string; "step": string }
    query: Record<never, never>
    body: undefined
    answer: undefined
  }
  "GET /v1/preview/models/{model_id}/checkpoints/{step}/archive": {
    path: { "model_id": string; "step": string }
    query: Record<never, never>
    body: undefined
    answer: undefined
  }
  "DELETE /v1/preview/projects/{project}": {
    path: { "project": string }
    query: Record<never, never>
    body: undefined
    answer: { "id": string; "entity": string; "project": string | null; "state": "running" | "done"; "requested_at": string; "finished_at": string | null; "report": Record<string, number> }
  }
  "DELETE /v1/preview/entities/{entity}": {
    path: { "entity": string }
    query: Record<never, never>
    body: undefined
    answer: { "id": string; "entity": string; "project": string | null; "state": "running" | "done"; "requested_at": string; "finished_at": string | null; "report": Record<string, number> }
  }
  "GET /v1/preview/erasures": {
    path: Record<never, never>
    query: { "after"?: string; "limit"?: number }
    body: undefined
    answer: { "object": "list"; "data": { "id": string; "entity": string; "project": string | null; "state": "running" | "done"; "requested_at": string; "finished_at": string | null; "report": Record<string, number> }[]; "has_more": boolean; "first_id": string; "last_id": string }
  }
  "GET /v1/preview/erasures/{erasure_id}": {
    path: { "erasure_id": string }
    query: Record<never, never>
    body: undefined
    answer: { "id": string; "entity": string; "project": string | null; "state": "running" | "done"; "requested_at": string; "finished_at": string | null; "report": Record<string, number> }
  }
  "GET /v1/preview/projects": {
    path: Record<never, never>
    query: { "after"?: string; "limit"?: number; "max_total"?: number }
    body: undefined
    answer: { "object": "list"; "data": { "id": string; "entity": string; "name": string; "created_at": string; "models": number; "runs": number; "data_sets": number; "has_traces": boolean | null }[]; "has_more": boolean; "first_id": string; "last_id": string; "total"?: number; "has_all_traces": boolean }
  }
  "GET /v1/preview/artifacts": {
    path: Record<never, never>
    query: { "after"?: string; "limit"?: number; "order"?: "asc" | "desc"; "project"?: string; "type"?: string }
    body: undefined
    answer: { "object": "list"; "data": { "id": string; "entity": string; "project": string; "name": string; "type": string; "created_at": string; "version_count": number; "versions": { "id": string; "version": string; "address": string; "size": number; "files": number; "created_at": string }[] }[]; "has_more": boolean; "first_id": string; "last_id": string }
  }
  "PUT /v1/preview/artifacts/{entity}/{project}/{name}": {
    path: { "entity": string; "project": string; "name": string }
    query: { "file"?: string; "check"?: "sft" | "none" }
    body: { "files": { "path": string; "digest": string; "size": number }[]; "metadata"?: Record<string, unknown> | null }
    answer: { "id": string; "entity": string; "project": string; "name": string; "version": string; "address": string; "digest": string; "size": number; "files": { "path": string; "digest": string; "size": number }[]; "metadata": Record<string, unknown>; "created_at": string }
  }
  "GET /v1/preview/artifacts/{entity}/{project}/{name}": {
    path: { "entity": string; "project": string; "name": string }
    query: Record<never, never>
    body: undefined
    answer: { "id": string; "entity": string; "project": string; "name": string; "version": string; "address": string; "digest": string; "size": number; "files": { "path": string; "digest": string; "size": number }[]; "metadata": Record<string, unknown>; "created_at": string }
  }
  "GET /v1/preview/artifacts/{entity}/{project}/{name}/versions": {
    path: { "entity": string; "project": string; "name": string }
    query: { "after"?: string; "limit"?: number; "order"?: "asc" | "desc" }
    body: undefined
    answer: { "object": "list"; "data": { "id": string; "entity": string; "project": string; "name": string; "version": string; "address": string; "digest": string; "size": number; "files": { "path": string; "digest": string; "size": number }[]; "metadata": Record<string, unknown>; "created_at": string }[]; "has_more": boolean; "first_id": string; "last_id": string }
  }
  "GET /v1/preview/artifacts/{entity}/{project}/{name}/files/{path}": {
    path: { "entity": string; "project": string; "name": string; "path": string }
    query: Record<never, never>
    body: undefined
    answer: undefined
  }
  "PUT /v1/preview/artifacts/{entity}/{project}/{name}/blobs/{digest}": {
    path: { "entity": string; "project": string; "name": string; "digest": string }
    query: Record<never, never>
    body: undefined
    answer: { "digest": string; "size": number; "complete": boolean }
  }
  "GET /v1/preview/artifacts/{entity}/{project}/{name}/blobs/{digest}": {
    path: { "entity": string; "project": string; "name": string; "digest": string }
    query: Record<never, never>
    body: undefined
    answer: { "digest": string; "size": number; "complete": boolean }
  }
  "POST /v1/preview/training-jobs": {
    path: Record<never, never>
    query: Record<never, never>
    body: { "model_id": string; "start_deadline_seconds"?: number | null; "active_deadline_seconds"?: number | null; "mode"?: "Warm" | "Dedicated" | null; "queue_name"?: string | null; "priority"?: number | null; "experimental_config"?: { "advantage_balance"?: number | null; "epsilon"?: number | null; "epsilon_high"?: number | null; "importance_sampling_level"?: "token" | "sequence" | "average" | "geometric_average" | null; "kimi_k2_tau"?: number | null; "modelfamily_k2_tau"?: number | null; "learning_rate"?: number | null; "loss_fn"?: "cispo" | "ppo" | null; "mask_prob_ratio"?: boolean | null; "max_negative_advantage_importance_sampling_weight"?: number | null; "ppo"?: boolean | null; "precalculate_logprobs"?: boolean | null; "scale_rewards"?: boolean | null; "normalize_advantages"?: boolean | null; "allow_training_without_logprobs"?: boolean | null; "mask_truncated"?: boolean | null; "packed_sequence_length"?: number | null; "num_trajectories_learning_rate_multiplier_power"?: number | null; "kl_penalty_coef"?: number | null; "kl_penalty_reference_step"?: number | null; "kl_penalty_step_lag"?: number | null; "kl_penalty_source"?: "current_learner" | "sample" | null; "truncated_importance_sampling"?: number | null; "logprob_calculation_chunk_size"?: number | null; "plot_tensors"?: boolean | null; "scale_learning_rate_by_reward_std_dev"?: boolean | null } | null; "config"?: Record<string, unknown> | null; "trajectory_groups": { "trajectories"?: { "messages_and_choices"?: Record<string, unknown>[] | null; "reward"?: number | null; "exchanges"?: { "chat_completions"?: { "start_time"?: string | null; "end_time"?: string | null; "request": Record<string, unknown>; "response": Record<string, unknown>; "model"?: string | null }[] | null; "completions"?: { "start_time"?: string | null; "end_time"?: string | null; "request": Record<string, unknown>; "response": Record<string, unknown>; "model"?: string | null }[] | null; "responses"?: { "start_time"?: string | null; "end_time"?: string | null; "request": Record<string, unknown>; "response": Record<string, unknown>; "model"?: string | null }[] | null; "messages"?: { "start_time"?: string | null; "end_time"?: string | null; "request": Record<string, unknown>; "response": Record<string, unknown>; "model"?: string | null }[] | null } | null; "tools"?: Record<string, unknown>[] | null; "additional_histories"?: { "messages_and_choices"?: Record<string, unknown>[] | null; "tools"?: Record<string, unknown>[] | null }[] | null; "initial_policy_version"?: number | null; "final_policy_version"?: number | null; "metrics"?: Record<string, unknown> | null; "auto_metrics"?: Record<string, unknown> | null; "metadata"?: Record<string, unknown> | null; "logs"?: unknown[] | null; "start_time"?: string | null }[] | null; "exceptions"?: unknown[] | null; "metadata"?: Record<string, unknown> | null; "metrics"?: Record<string, unknown> | null; "logs"?: unknown[] | null }[] }
    answer: { "id": string }
  }
  "GET /v1/preview/training-jobs": {
    path: Record<never, never>
    query: { "after"?: string; "limit"?: number; "order"?: "asc" | "desc"; "max_total"?: number; "model_id"?: string; "project"?: string; "method"?: "RL" | "SFT"; "state"?: ("Pending" | "Queued" | "Starting" | "Running" | "Publishing" | "Suspending" | "Suspended" | "Succeeded" | "Failed" | "Cancelled")[]; "created_after"?: string; "created_before"?: string }
    body: undefined
    answer: { "object": "list"; "data": { "id": string; "model_id": string; "method": "RL" | "SFT"; "retry_of": string | null; "state": "Pending" | "Queued" | "Starting" | "Running" | "Publishing" | "Suspending" | "Suspended" | "Succeeded" | "Failed" | "Cancelled"; "attempt": number; "max_attempts": number; "step": number | null; "progress": { "step": number; "total_steps": number | null }; "queue": { "position": number; "reason": "WaitingForTrainer" | "WaitingForPod" | "WaitingForModel" | "BaseModelNotFound" | "Paused" | "GpuSecondsUsed"; "message": string } | null; "checkpoint": { "id": string; "step": number } | null; "start_deadline_seconds": number | null; "active_deadline_seconds": number | null; "mode": "Warm" | "Dedicated"; "queue_name": string | null; "priority": number; "suspend": boolean; "training_data_url": string | null; "config": Record<string, unknown> | null; "experimental_config": Record<string, unknown> | null; "failure": { "category": "User" | "Capacity" | "Internal"; "code": string; "message": string; "retryable": boolean } | null; "warnings": { "code": string; "message": string }[]; "timeline": { "created_at": string; "queued_at": string | null; "claimed_at": string | null; "started_at": string | null; "trained_at": string | null; "published_at": string | null; "finished_at": string | null }; "created_at": string; "started_at": string | null; "finished_at": string | null }[]; "has_more": boolean; "first_id": string; "last_id": string; "total"?: number }
  }
  "GET /v1/preview/training-jobs/{training_job_id}": {
    path: { "training_job_id": string }
    query: Record<never, never>
    body: undefined
    answer: { "id": string; "model_id": string; "method": "RL" | "SFT"; "retry_of": string | null; "state": "Pending" | "Queued" | "Starting" | "Running" | "Publishing" | "Suspending" | "Suspended" | "Succeeded" | "Failed" | "Cancelled"; "attempt": number; "max_attempts": number; "step": number | null; "progress": { "step": number; "total_steps": number | null }; "queue": { "position": number; "reason": "WaitingForTrainer" | "WaitingForPod" | "WaitingForModel" | "BaseModelNotFound" | "Paused" | "GpuSecondsUsed"; "message": string } | null; "checkpoint": { "id": string; "step": number } | null; "start_deadline_seconds": number | null; "active_deadline_seconds": number | null; "mode": "Warm" | "Dedicated"; "queue_name": string | null; "priority": number; "suspend": boolean; "training_data_url": string | null; "config": Record<string, unknown> | null; "experimental_config": Record<string, unknown> | null; "failure": { "category": "User" | "Capacity" | "Internal"; "code": string; "message": string; "retryable": boolean } | null; "warnings": { "code": string; "message": string }[]; "timeline": { "created_at": string; "queued_at": string | null; "claimed_at": string | null; "started_at": string | null; "trained_at": string | null; "published_at": string | null; "finished_at": string | null }; "created_at": string; "started_at": string | null; "finished_at": string | null; "loads": { "pod": string; "at": string; "error": string | null }[]; "waiting": { "reason": string; "sentence": string; "position": number | null; "ahead": number | null; "estimated_start_at": string | null; "holder": { "job_id": string; "state": "Pending" | "Queued" | "Starting" | "Running" | "Publishing" | "Suspending" | "Suspended" | "Succeeded" | "Failed" | "Cancelled" } | null } | null }
  }
  "POST /v1/preview/training-jobs/{training_job_id}/cancel": {
    path: { "training_job_id": string }
    query: Record<never, never>
    body: unknown
    answer: { "id": string; "model_id": string; "method": "RL" | "SFT"; "retry_of": string | null; "state": "Pending" | "Queued" | "Starting" | "Running" | "Publishing" | "Suspending" | "Suspended" | "Succeeded" | "Failed" | "Cancelled"; "attempt": number; "max_attempts": number; "step": number | null; "progress": { "step": number; "total_steps": number | null }; "queue": { "position": number; "reason": "WaitingForTrainer" | "WaitingForPod" | "WaitingForModel" | "BaseModelNotFound" | "Paused" | "GpuSecondsUsed"; "message": string } | null; "checkpoint": { "id": string; "step": number } | null; "start_deadline_seconds": number | null; "active_deadline_seconds": number | null; "mode": "Warm" | "Dedicated"; "queue_name": string | null; "priority": number; "suspend": boolean; "training_data_url": string | null; "config": Record<string, unknown> | null; "experimental_config": Record<string, unknown> | null; "failure": { "category": "User" | "Capacity" | "Internal"; "code": string; "message": string; "retryable": boolean } | null; "warnings": { "code": string; "message": string }[]; "timeline": { "created_at": string; "queued_at": string | null; "claimed_at": string | null; "started_at": string | null; "trained_at": string | null; "published_at": string | null; "finished_at": string | null }; "created_at": string; "started_at": string | null; "finished_at": string | null }
  }
  "POST /v1/preview/training-jobs/{training_job_id}/retry": {
    path: { "training_job_id": string }
    query: Record<never, never>
    body: unknown
    answer: { "id": string; "model_id": string; "method": "RL" | "SFT"; "retry_of": string | null; "state": "Pending" | "Queued" | "Starting" | "Running" | "Publishing" | "Suspending" | "Suspended" | "Succeeded" | "Failed" | "Cancelled"; "attempt": number; "max_attempts": number; "step": number | null; "progress": { "step": number; "total_steps": number | null }; "queue": { "position": number; "reason": "WaitingForTrainer" | "WaitingForPod" | "WaitingForModel" | "BaseModelNotFound" | "Paused" | "GpuSecondsUsed"; "message": string } | null; "checkpoint": { "id": string; "step": number } | null; "start_deadline_seconds": number | null; "active_deadline_seconds": number | null; "mode": "Warm" | "Dedicated"; "queue_name": string | null; "priority": number; "suspend": boolean; "training_data_url": string | null; "config": Record<string, unknown> | null; "experimental_config": Record<string, unknown> | null; "failure": { "category": "User" | "Capacity" | "Internal"; "code": string; "message": string; "retryable": boolean } | null; "warnings": { "code": string; "message": string }[]; "timeline": { "created_at": string; "queued_at": string | null; "claimed_at": string | null; "started_at": string | null; "trained_at": string | null; "published_at": string | null; "finished_at": string | null }; "created_at": string; "started_at": string | null; "finished_at": string | null }
  }
  "POST /v1/preview/training-jobs/{training_job_id}/suspend": {
    path: { "training_job_id": string }
    query: Record<never, never>
    body: unknown
    answer: { "id": string; "model_id": string; "method": "RL" | "SFT"; "retry_of": string | null; "state": "Pending" | "Queued" | "Starting" | "Running" | "Publishing" | "Suspending" | "Suspended" | "Succeeded" | "Failed" | "Cancelled"; "attempt": number; "max_attempts": number; "step": number | null; "progress": { "step": number; "total_steps": number | null }; "queue": { "position": number; "reason": "WaitingForTrainer" | "WaitingForPod" | "WaitingForModel" | "BaseModelNotFound" | "Paused" | "GpuSecondsUsed"; "message": string } | null; "checkpoint": { "id": string; "step": number } | null; "start_deadline_seconds": number | null; "active_deadline_seconds": number | null; "mode": "Warm" | "Dedicated"; "queue_name": string | null; "priority": number; "suspend": boolean; "training_data_url": string | null; "config": Record<string, unknown> | null; "experimental_config": Record<string, unknown> | null; "failure": { "category": "User" | "Capacity" | "Internal"; "code": string; "message": string; "retryable": boolean } | null; "warnings": { "code": string; "message": string }[]; "timeline": { "created_at": string; "queued_at": string | null; "claimed_at": string | null; "started_at": string | null; "trained_at": string | null; "published_at": string | null; "finished_at": string | null }; "created_at": string; "started_at": string | null; "finished_at": string | null }
  }
  "POST /v1/preview/training-jobs/{training_job_id}/resume": {
    path: { "training_job_id": string }
    query: Record<never, never>
    body: unknown
    answer: { "id": string; "model_id": string; "method": "RL" | "SFT"; "retry_of": string | null; "state": "Pending" | "Queued" | "Starting" | "Running" | "Publishing" | "Suspending" | "Suspended" | "Succeeded" | "Failed" | "Cancelled"; "attempt": number; "max_attempts": number; "step": number | null; "progress": { "step": number; "total_steps": number | null }; "queue": { "position": number; "reason": "WaitingForTrainer" | "WaitingForPod" | "WaitingForModel" | "BaseModelNotFound" | "Paused" | "GpuSecondsUsed"; "message": string } | null; "checkpoint": { "id": string; "step": number } | null; "start_deadline_seconds": number | null; "active_deadline_seconds": number | null; "mode": "Warm" | "Dedicated"; "queue_name": string | null; "priority": number; "suspend": boolean; "training_data_url": string | null; "config": Record<string, unknown> | null; "experimental_config": Record<string, unknown> | null; "failure": { "category": "User" | "Capacity" | "Internal"; "code": string; "message": string; "retryable": boolean } | null; "warnings": { "code": string; "message": string }[]; "timeline": { "created_at": string; "queued_at": string | null; "claimed_at": string | null; "started_at": string | null; "trained_at": string | null; "published_at": string | null; "finished_at": string | null }; "created_at": string; "started_at": string | null; "finished_at": string | null }
  }
  "GET /v1/preview/training-jobs/{training_job_id}/events": {
    path: { "training_job_id": string }
    query: { "after"?: string; "limit"?: number; "order"?: "asc" | "desc"; "wait"?: number }
    body: undefined
    answer: { "object": "list"; "data": { "id": string; "type": string; "data": Record<string, unknown>; "gradient_step": number | null; "created_at": string }[]; "has_more": boolean; "first_id": string; "last_id": string }
  }
  "GET /v1/preview/training-jobs/{training_job_id}/logs": {
    path: { "training_job_id": string }
    query: { "after"?: string; "limit"?: number; "order"?: "asc" | "desc"; "attempt"?: number }
    body: undefined
    answer: { "object": "list"; "data": { "id": string; "attempt": number; "time": string; "level": "info" | "warn" | "error"; "text": string }[]; "has_more": boolean; "first_id": string; "last_id": string }
  }
  "GET /v1/preview/stream": {
    path: Record<never, never>
    query: { "topics": string; "after"?: string }
    body: undefined
    answer: undefined
  }
  "POST /v1/preview/sft-training-jobs": {
    path: Record<never, never>
    query: Record<never, never>
    body: { "model_id": string; "start_deadline_seconds"?: number | null; "active_deadline_seconds"?: number | null; "mode"?: "Warm" | "Dedicated" | null; "queue_name"?: string | null; "priority"?: number | null; "training_data_url": string; "config"?: { "batch_size"?: number | null; "learning_rate"?: number | number[] | null; "assistant_turns"?: "all" | "last" | null; "metric_logging"?: { "enabled"?: boolean | null; "target_training_step"?: number | null } | null } | null; "experimental_config"?: Record<string, unknown> | null }
    answer: { "id": string }
  }
  "GET /v1/preview/webhooks/{webhook_id}": {
    path: { "webhook_id": string }
    query: Record<never, never>
    body: undefined
    answer: { "id": string; "url": string; "events": ("training_job.pending" | "training_job.queued" | "training_job.starting" | "training_job.running" | "training_job.publishing" | "training_job.succeeded" | "training_job.failed" | "training_job.cancelled" | "model.created" | "model.deleted")[]; "project": string | null; "description": string | null; "consecutive_failures": number; "created_at": string }
  }
  "DELETE /v1/preview/webhooks/{webhook_id}": {
    path: { "webhook_id": string }
    query: Record<never, never>
    body: undefined
    answer: { "id": string; "deleted": true }
  }
  "POST /v1/preview/webhooks/{webhook_id}/rotate-secret": {
    path: { "webhook_id": string }
    query: Record<never, never>
    body: undefined
    answer: { "id": string; "url": string; "events": ("training_job.pending" | "training_job.queued" | "training_job.starting" | "training_job.running" | "training_job.publishing" | "training_job.succeeded" | "training_job.failed" | "training_job.cancelled" | "model.created" | "model.deleted")[]; "project": string | null; "description": string | null; "consecutive_failures": number; "created_at": string; "secret": string }
  }
  "POST /v1/preview/webhooks/{webhook_id}/replay": {
    path: { "webhook_id": string }
    query: Record<never, never>
    body: { "after"?: string | null; "after_position"?: number | null }
    answer: { "replayed": number }
  }
  "GET /v1/preview/webhooks/{webhook_id}/deliveries": {
    path: { "webhook_id": string }
    query: { "after"?: string; "limit"?: number; "max_total"?: number }
    body: undefined
    answer: { "object": "list"; "data": { "id": string; "event_id": string; "type": "training_job.pending" | "training_job.queued" | "training_job.starting" | "training_job.running" | "training_job.publishing" | "training_job.succeeded" | "training_job.failed" | "training_job.cancelled" | "model.created" | "model.deleted"; "subject_id": string; "position": number; "state": "pending" | "delivered" | "failed"; "attempts": number; "last_status": number | null; "last_error": string | null; "next_attempt_at": string | null; "created_at": string; "delivered_at": string | null }[]; "has_more": boolean; "first_id": string; "last_id": string; "total"?: number }
  }
  "POST /v1/preview/webhooks/{webhook_id}/deliveries/{delivery_id}/replay": {
    path: { "webhook_id": string; "delivery_id": string }
    query: Record<never, never>
    body: undefined
    answer: { "id": string; "event_id": string; "type": "training_job.pending" | "training_job.queued" | "training_job.starting" | "training_job.running" | "training_job.publishing" | "training_job.succeeded" | "training_job.failed" | "training_job.cancelled" | "model.created" | "model.deleted"; "subject_id": string; "position": number; "state": "pending" | "delivered" | "failed"; "attempts": number; "last_status": number | null; "last_error": string | null; "next_attempt_at": string | null; "created_at": string; "delivered_at": string | null }
  }
  "POST /v1/preview/webhooks": {
    path: Record<never, never>
    query: Record<never, never>
    body: { "url": string; "events"?: ("training_job.pending" | "training_job.queued" | "training_job.starting" | "training_job.running" | "training_job.publishing" | "training_job.succeeded" | "training_job.failed" | "training_job.cancelled" | "model.created" | "model.deleted")[] | null; "project"?: string | null; "description"?: string | null }
    answer: { "id": string; "url": string; "events": ("training_job.pending" | "training_job.queued" | "training_job.starting" | "training_job.running" | "training_job.publishing" | "training_job.succeeded" | "training_job.failed" | "training_job.cancelled" | "model.created" | "model.deleted")[]; "project": string | null; "description": string | null; "consecutive_failures": number; "created_at": string; "secret": string }
  }
  "GET /v1/preview/webhooks": {
    path: Record<never, never>
    query: { "after"?: string; "limit"?: number }
    body: undefined
    answer: { "object": "list"; "data": { "id": string; "url": string; "events": ("training_job.pending" | "training_job.queued" | "training_job.starting" | "training_job.running" | "training_job.publishing" | "training_job.succeeded" | "training_job.failed" | "training_job.cancelled" | "model.created" | "model.deleted")[]; "project": string | null; "description": string | null; "consecutive_failures": number; "created_at": string }[]; "has_more": boolean; "first_id": string; "last_id": string }
  }
  "POST /v1/preview/models/{model_id}/log": {
    path: { "model_id": string }
    query: Record<never, never>
    body: { "split": string; "model_id"?: string | null; "trajectory_groups": { "trajectories"?: { "messages_and_choices"?: Record<string, unknown>[] | null; "reward"?: number | null; "exchanges"?: { "chat_completions"?: { "start_time"?: string | null; "end_time"?: string | null; "request": Record<string, unknown>; "response": Record<string, unknown>; "model"?: string | null }[] | null; "completions"?: { "start_time"?: string | null; "end_time"?: string | null; "request": Record<string, unknown>; "response": Record<string, unknown>; "model"?: string | null }[] | null; "responses"?: { "start_time"?: string | null; "end_time"?: string | null; "request": Record<string, unknown>; "response": Record<string, unknown>; "model"?: string | null }[] | null; "messages"?: { "start_time"?: string | null; "end_time"?: string | null; "request": Record<string, unknown>; "response": Record<string, unknown>; "model"?: string | null }[] | null } | null; "tools"?: Record<string, unknown>[] | null; "additional_histories"?: { "messages_and_choices"?: Record<string, unknown>[] | null; "tools"?: Record<string, unknown>[] | null }[] | null; "initial_policy_version"?: number | null; "final_policy_version"?: number | null; "metrics"?: Record<string, unknown> | null; "auto_metrics"?: Record<string, unknown> | null; "metadata"?: Record<string, unknown> | null; "logs"?: unknown[] | null; "start_time"?: string | null }[] | null; "exceptions"?: unknown[] | null; "metadata"?: Record<string, unknown> | null; "metrics"?: Record<string, unknown> | null; "logs"?: unknown[] | null }[] }
    answer: { "id": string; "split": string; "step": number; "num_groups": number; "num_trajectories": number }
  }
  "GET /v1/preview/models/{model_id}/log": {
    path: { "model_id": string }
    query: { "after"?: string; "limit"?: number; "order"?: "asc" | "desc"; "split"?: string }
    body: undefined
    answer: { "object": "list"; "data": { "id": string; "split": string; "step": number; "num_groups": number; "num_trajectories": number; "num_exceptions": number; "mean_reward": number | null; "min_reward": number | null; "max_reward": number | null; "std_reward": number | null; "created_at": string }[]; "has_more": boolean; "first_id": string; "last_id": string }
  }
  "GET /v1/preview/models/{model_id}/log/statistics": {
    path: { "model_id": string }
    query: { "after"?: string; "limit"?: number; "order"?: "asc" | "desc"; "split"?: string }
    body: undefined
    answer: { "object": "list"; "data": { "id": string; "split": string; "step": number; "num_logs": number; "num_groups": number; "num_trajectories": number; "num_exceptions": number; "mean_reward": number | null; "min_reward": number | null; "max_reward": number | null; "std_reward": number | null }[]; "has_more": boolean; "first_id": string; "last_id": string }
  }
  "GET /v1/preview/models/{model_id}/trajectories": {
    path: { "model_id": string }
    query: { "after"?: string; "limit"?: number; "order"?: "asc" | "desc"; "max_total"?: number; "sort"?: "arrival" | "reward" | "advantage" | "push" | "tokens"; "split"?: string; "step"?: number; "job_id"?: string; "scenario_id"?: string; "prompt_hash"?: string; "min_reward"?: number; "max_reward"?: number; "flag"?: "no_logprobs" | "zero_advantage" | "truncated" | "tool_calls" | "additional_histories" | "captured"; "min_push"?: number; "max_push"?: number }
    body: undefined
    answer: { "object": "list"; "data": { "id": string; "model_id": string; "job_id": string | null; "log_id": string | null; "split": string; "step": number | null; "group_index": number; "trajectory_index": number; "group_exceptions": number; "scenario_id": string | null; "prompt_hash": string; "reward": number; "advantage": number | null; "metrics": Record<string, number | boolean>; "tokens": number; "flags": ("no_logprobs" | "zero_advantage" | "truncated" | "tool_calls" | "additional_histories" | "captured")[]; "push": number | null; "created_at": string }[]; "has_more": boolean; "first_id": string; "last_id": string; "total"?: number }
  }
  "GET /v1/preview/models/{model_id}/trajectories/{trajectory_id}": {
    path: { "model_id": string; "trajectory_id": string }
    query: Record<never, never>
    body: undefined
    answer: { "id": string; "model_id": string; "job_id": string | null; "log_id": string | null; "split": string; "step": number | null; "group_index": number; "trajectory_index": number; "group_exceptions": number; "scenario_id": string | null; "prompt_hash": string; "reward": number; "advantage": number | null; "metrics": Record<string, number | boolean>; "tokens": number; "flags": ("no_logprobs" | "zero_advantage" | "truncated" | "tool_calls" | "additional_histories" | "captured")[]; "push": number | null; "created_at": string; "trajectory": Record<string, unknown>; "histories"?: { "messages_and_choices": Record<string, unknown>[]; "tools"?: unknown }[] }
  }
  "GET /v1/preview/models/{model_id}/trajectories/{trajectory_id}/tokens": {
    path: { "model_id": string; "trajectory_id": string }
    query: { "from"?: number; "limit"?: number }
    body: undefined
    answer: { "trajectory_id": string; "job_id": string | null; "total": number; "from": number; "has_more": boolean; "columns": { "gradient_step": (number | null)[]; "history_index": (number | null)[]; "position": (number | null)[]; "token_id": (number | null)[]; "old_logprob": (number | null)[]; "new_logprob": (number | null)[]; "ratio": (number | null)[]; "coefficient": (number | null)[]; "entropy": (number | null)[]; "masked": boolean[]; "clipped_low": boolean[]; "clipped_high": boolean[]; "dropped": boolean[] }; "missing": { "reason": "logged" | "not_trained" | "not_reported" | "job_failed" | "checkpoint_deleted" | "removed" | "not_kept"; "message": string } | null }
  }
  "GET /v1/preview/models/{model_id}/trajectory-matches": {
    path: { "model_id": string }
    query: { "text": string; "after"?: string; "order"?: "asc" | "desc"; "limit"?: number; "split"?: string; "step"?: number; "job_id"?: string; "scenario_id"?: string; "prompt_hash"?: string; "min_reward"?: number; "max_reward"?: number; "flag"?: "no_logprobs" | "zero_advantage" | "truncated" | "tool_calls" | "additional_histories" | "captured"; "min_push"?: number; "max_push"?: number }
    body: undefined
    answer: { "data": { "id": string; "model_id": string; "job_id": string | null; "log_id": string | null; "split": string; "step": number | null; "group_index": number; "trajectory_index": number; "group_exceptions": number; "scenario_id": string | null; "prompt_hash": string; "reward": number; "advantage": number | null; "metrics": Record<string, number | boolean>; "tokens": number; "flags": ("no_logprobs" | "zero_advantage" | "truncated" | "tool_calls" | "additional_histories" | "captured")[]; "push": number | null; "created_at": string; "matches": { "turn": number; "role": string; "before": string; "text": string; "after": string }[] }[]; "searched": number; "skipped": number; "has_more": boolean; "last_id": string }
  }
  "POST /v1/chat/completions": {
    path: Record<never, never>
    query: Record<never, never>
    body: { "messages": { "role": string; "content"?: string | unknown[] | Record<string, unknown> | null; "tool_calls"?: Record<string, unknown>[] | null; "function_call"?: Record<string, unknown> | null }[]; "model"?: string | null; "stream"?: boolean | null; "stream_options"?: Record<string, unknown> | null; "temperature"?: number | null; "top_p"?: number | null; "user"?: string | null; "frequency_penalty"?: number | null; "presence_penalty"?: number | null; "logit_bias"?: Record<string, unknown> | null; "allowed_token_ids"?: number[] | null; "stop"?: string | unknown[] | null; "stop_token_ids"?: number[] | null; "min_tokens"?: number | null; "echo"?: boolean | null; "prompt_logprobs"?: number | null; "return_token_ids"?: boolean | null; "response_format"?: Record<string, unknown> | null; "structured_outputs"?: Record<string, unknown> | null; "priority"?: 0 | null; "request_id"?: string | null; "cache_salt"?: string | null; "logprobs"?: boolean | null; "top_logprobs"?: number | null; "max_tokens"?: number | null; "max_completion_tokens"?: number | null; "n"?: number | null; "seed"?: number | null; "tools"?: Record<string, unknown>[] | null; "tool_choice"?: string | Record<string, unknown> | null; "functions"?: Record<string, unknown>[] | null; "function_call"?: string | Record<string, unknown> | null; "reasoning_effort"?: string | null; "include_reasoning"?: boolean | null; "parallel_tool_calls"?: boolean | null; "use_beam_search"?: boolean | null; "top_k"?: number | null; "min_p"?: number | null; "repetition_penalty"?: number | null; "length_penalty"?: number | null; "include_stop_str_in_output"?: boolean | null; "ignore_eos"?: boolean | null; "skip_special_tokens"?: boolean | null; "spaces_between_special_tokens"?: boolean | null; "truncate_prompt_tokens"?: number | null; "bad_words"?: string[] | null; "add_generation_prompt"?: boolean | null; "continue_final_message"?: boolean | null; "add_special_tokens"?: boolean | null; "documents"?: Record<string, unknown>[] | null; "chat_template"?: string | null; "chat_template_kwargs"?: Record<string, unknown> | null; "mm_processor_kwargs"?: Record<string, unknown> | null; "logits_processors"?: unknown[] | null; "return_tokens_as_token_ids"?: boolean | null; "kv_transfer_params"?: Record<string, unknown> | null; "engine_xargs"?: Record<string, unknown> | null }
    answer: { "id": string; "object": "chat.completion"; "created": number; "model": string; "choices": { "index": number; "message": { "role": string }; "finish_reason": string | null; "prompt_token_ids"?: number[] | null; "token_ids"?: number[] | null; "sampling"?: Record<string, unknown> }[]; "usage": { "prompt_tokens": number; "total_tokens": number; "completion_tokens": number | null } }
  }
  "POST /v1/completions": {
    path: Record<never, never>
    query: Record<never, never>
    body: { "prompt": string | (string | number | number[])[]; "model"?: string | null; "stream"?: boolean | null; "stream_options"?: Record<string, unknown> | null; "temperature"?: number | null; "top_p"?: number | null; "user"?: string | null; "frequency_penalty"?: number | null; "presence_penalty"?: number | null; "logit_bias"?: Record<string, unknown> | null; "allowed_token_ids"?: number[] | null; "stop"?: string | unknown[] | null; "stop_token_ids"?: number[] | null; "min_tokens"?: number | null; "echo"?: boolean | null; "prompt_logprobs"?: number | null; "return_token_ids"?: boolean | null; "response_format"?: Record<string, unknown> | null; "structured_outputs"?: Record<string, unknown> | null; "priority"?: 0 | null; "request_id"?: string | null; "cache_salt"?: string | null; "suffix"?: string | null; "best_of"?: number | null; "logprobs"?: number | null; "max_tokens"?: number | null; "n"?: number | null; "seed"?: number | null; "vllm_xargs"?: Record<string, unknown> | null }
    answer: { "id": string; "object": "text_completion"; "created": number; "model": string; "choices": { "index": number; "text": string; "prompt_token_ids"?: number[] | null; "token_ids"?: number[] | null; "sampling"?: Record<string, unknown> }[] }
  }
  "POST /v1/embeddings": {
    path: Record<never, never>
    query: Record<never, never>
    body: { "model"?: string | null; "input"?: string | (string | number | number[])[] | null; "messages"?: { "role": string; "content"?: string | unknown[] | Record<string, unknown> | null; "tool_calls"?: Record<string, unknown>[] | null; "function_call"?: Record<string, unknown> | null }[] | null; "encoding_format"?: "float" | "base64" | null; "dimensions"?: number | null; "chat_template_kwargs"?: Record<string, unknown> | null; "priority"?: 0 | null; "cache_salt"?: string | null }
    answer: { "object": "list"; "model": string; "data": { "object": "embedding"; "index": number }[]; "usage": { "prompt_tokens": number; "total_tokens": number } }
  }
  "POST /tokenize": {
    path: Record<never, never>
    query: Record<never, never>
    body: { "model"?: string | null; "prompt"?: string | null; "messages"?: { "role": string; "content"?: string | unknown[] | Record<string, unknown> | null; "tool_calls"?: Record<string, unknown>[] | null; "function_call"?: Record<string, unknown> | null }[] | null; "tools"?: Record<string, unknown>[] | null; "add_generation_prompt"?: boolean; "continue_final_message"?: boolean; "add_special_tokens"?: boolean; "return_token_strs"?: boolean | null; "chat_template_kwargs"?: Record<string, unknown> | null }
    answer: { "count": number; "max_model_len": number; "tokens": number[]; "token_strs": string[] | null }
  }
  "POST /detokenize": {
    path: Record<never, never>
    query: Record<never, never>
    body: { "model"?: string | null; "tokens": number[] }
    answer: { "prompt": string }
  }
  "POST /v1/tokenize": {
    path: Record<never, never>
    query: Record<never, never>
    body: { "model"?: string | null; "prompt"?: string | null; "messages"?: { "role": string; "content"?: string | unknown[] | Record<string, unknown> | null; "tool_calls"?: Record<string, unknown>[] | null; "function_call"?: Record<string, unknown> | null }[] | null; "tools"?: Record<string, unknown>[] | null; "add_generation_prompt"?: boolean; "continue_final_message"?: boolean; "add_special_tokens"?: boolean; "return_token_strs"?: boolean | null; "chat_template_kwargs"?: Record<string, unknown> | null }
    answer: { "count": number; "max_model_len": number; "tokens": number[]; "token_strs": string[] | null }
  }
  "POST /v1/detokenize": {
    path: Record<never, never>
    query: Record<never, never>
    body: { "model"?: string | null; "tokens": number[] }
    answer: { "prompt": string }
  }
  "GET /v1/models": {
    path: Record<never, never>
    query: Record<never, never>
    body: undefined
    answer: { "object": "list"; "data": { "id": string; "object": "model"; "created": number; "owned_by": string; "root": string }[] }
  }
  "GET /v1/models/{model}": {
    path: { "model": string }
    query: Record<never, never>
    body: undefined
    answer: { "id": string; "object": "model"; "created": number; "owned_by": string; "root": string }
  }
  "POST /v1/responses": {
    path: Record<never, never>
    query: Record<never, never>
    body: { "input"?: string | Record<string, unknown>[] | null; "model"?: string | null; "stream"?: boolean | null; "stream_options"?: Record<string, unknown> | null; "temperature"?: number | null; "top_p"?: number | null; "user"?: string | null; "instructions"?: string | null; "previous_response_id"?: string | null; "store"?: boolean | null; "metadata"?: Record<string, string> | null; "max_output_tokens"?: number | null; "max_tool_calls"?: number | null; "top_logprobs"?: number | null; "include"?: string[] | null; "reasoning"?: { "effort"?: string | null; "summary"?: string | null } | null; "text"?: { "format"?: { "type": string } | null; "verbosity"?: "low" | "medium" | "high" | null } | null; "tools"?: { "type": string }[] | null; "tool_choice"?: string | Record<string, unknown> | null; "parallel_tool_calls"?: boolean | null; "truncation"?: "auto" | "disabled" | null; "service_tier"?: string | null; "safety_identifier"?: string | null; "prompt_cache_key"?: string | null; "prompt_cache_retention"?: string | null; "background"?: boolean | null }
    answer: { "id": string; "object": "response"; "created_at": number; "status": "completed" | "incomplete"; "model": string; "output": { "type": string }[]; "usage": { "input_tokens"?: number; "output_tokens"?: number; "total_tokens"?: number } | null; "token_generations"?: { "prompt_token_ids": number[]; "output_tokens": { "token_id": number; "logprob"?: number }[]; "output_indices": number[]; "sampling"?: Record<string, unknown> }[] }
  }
  "GET /v1/responses/{response_id}": {
    path: { "response_id": string }
    query: Record<never, never>
    body: undefined
    answer: { "id": string; "object": "response"; "created_at": number; "status": "completed" | "incomplete"; "model": string; "output": { "type": string }[]; "usage": { "input_tokens"?: number; "output_tokens"?: number; "total_tokens"?: number } | null; "token_generations"?: { "prompt_token_ids": number[]; "output_tokens": { "token_id": number; "logprob"?: number }[]; "output_indices": number[]; "sampling"?: Record<string, unknown> }[] }
  }
  "DELETE /v1/responses/{response_id}": {
    path: { "response_id": string }
    query: Record<never, never>
    body: undefined
    answer: { "id": string; "object": "response"; "deleted": true }
  }
  "GET /v1/responses/{response_id}/input_items": {
    path: { "response_id": string }
    query: { "after"?: string; "limit"?: number; "order"?: "asc" | "desc" }
    body: undefined
    answer: { "object": "list"; "data": { "id": string; "type": string }[]; "has_more": boolean; "first_id": string; "last_id": string }
  }
  "GET /v1/preview/projects/{project}/trace-retention": {
    path: { "project": string }
    query: Record<never, never>
    body: undefined
    answer: { "days": number | null }
  }
  "PUT /v1/preview/projects/{project}/trace-retention": {
    path: { "project": string }
    query: Record<never, never>
    body: { "days": number | null }
    answer: { "days": number | null }
  }
  "POST /v1/preview/projects/{project}/calls/to-dataset": {
    path: { "project": string }
    query: Record<never, never>
    body: { "dataset": string; "call_ids": string[] }
    answer: { "project_id": string; "object_id": string; "digest": string; "version_index": number; "ref": string; "added": number; "rows": number }
  }
  "POST /v1/preview/models/{model_id}/to-dataset": {
    path: { "model_id": string }
    query: Record<never, never>
    body: { "dataset": string; "trajectory_ids": string[] }
    answer: { "project_id": string; "object_id": string; "digest": string; "version_index": number; "ref": string; "added": number; "rows": number }
  }
  "POST /v1/preview/projects/{project}/calls/statistics": {
    path: { "project": string }
    query: Record<never, never>
    body: { "filter"?: { "op_names"?: string[] | null; "input_refs"?: string[] | null; "output_refs"?: string[] | null; "parent_ids"?: string[] | null; "trace_ids"?: string[] | null; "call_ids"?: string[] | null; "thread_ids"?: string[] | null; "turn_ids"?: string[] | null; "wb_user_ids"?: string[] | null; "wb_run_ids"?: string[] | null; "trace_roots_only"?: boolean | null }; "query"?: { "$expr": Record<string, unknown> }; "from"?: string; "to"?: string; "buckets"?: number }
    answer: { "calls": number; "is_whole": boolean; "from": string | null; "to": string | null; "buckets": { "calls": number; "errors": number }[]; "ops": { "value": string; "calls": number }[]; "statuses": { "value": string; "calls": number }[]; "threads": { "value": string; "calls": number }[]; "models": { "value": string; "calls": number }[] }
  }
  "GET /v1/preview/runs": {
    path: Record<never, never>
    query: { "after"?: string; "limit"?: number; "order"?: "asc" | "desc"; "project"?: string; "name"?: string; "state"?: "running" | "finished" | "failed" | "killed" | "preempted" | "pending" | "crashed" | "preempting" }
    body: undefined
    answer: { "object": "list"; "data": { "id": string; "entity": string; "project": string; "name": string; "display_name": string; "notes": string | null; "group": string | null; "job_type": string | null; "tags": string[]; "state": "running" | "finished" | "failed" | "killed" | "preempted" | "pending" | "crashed" | "preempting"; "exit_code": number | null; "created_at": string; "heartbeat_at": string; "finished_at": string | null; "history_lines": number; "last_step": number; "model_id": string | null }[]; "has_more": boolean; "first_id": string; "last_id": string }
  }
  "GET /v1/preview/runs/{run_id}": {
    path: { "run_id": string }
    query: Record<never, never>
    body: undefined
    answer: { "id": string; "entity": string; "project": string; "name": string; "display_name": string; "notes": string | null; "group": string | null; "job_type": string | null; "tags": string[]; "state": "running" | "finished" | "failed" | "killed" | "preempted" | "pending" | "crashed" | "preempting"; "exit_code": number | null; "created_at": string; "heartbeat_at": string; "finished_at": string | null; "history_lines": number; "last_step": number; "model_id": string | null; "config": Record<string, unknown>; "summary": Record<string, unknown> }
  }
  "DELETE /v1/preview/runs/{run_id}": {
    path: { "run_id": string }
    query: Record<never, never>
    body: undefined
    answer: undefined
  }
  "GET /v1/preview/runs/{run_id}/metrics": {
    path: { "run_id": string }
    query: Record<never, never>
    body: undefined
    answer: { "keys": { "key": string; "type": string; "lines": number }[] }
  }
  "GET /v1/preview/runs/{run_id}/history": {
    path: { "run_id": string }
    query: { "keys"?: string; "samples"?: number; "min_step"?: number; "max_step"?: number }
    body: undefined
    answer: { "keys": string[]; "rows": Record<string, unknown>[] }
  }
  "GET /v1/preview/runs/{run_id}/output": {
    path: { "run_id": string }
    query: { "after"?: number; "limit"?: number }
    body: undefined
    answer: { "lines": { "number": number; "timestamp": string | null; "level": string; "content": string }[]; "has_more": boolean }
  }
  "GET /v1/preview/runs/{run_id}/files": {
    path: { "run_id": string }
    query: { "after"?: string; "limit"?: number }
    body: undefined
    answer: { "files": { "path": string; "size": number; "sha256": string; "md5": string; "updated_at": string }[]; "has_more": boolean }
  }
  "GET /v1/preview/runs/{run_id}/files/{path}": {
    path: { "run_id": string; "path": string }
    query: Record<never, never>
    body: undefined
    answer: undefined
  }
  "POST /v1/preview/keys": {
    path: Record<never, never>
    query: Record<never, never>
    body: { "name"?: string | null; "role"?: "admin" | "member" | "read" | null; "expires_at"?: string | null; "expires_in_seconds"?: number | null; "trace_project"?: string | null }
    answer: { "id": string; "name": string | null; "role": "admin" | "member" | "read"; "prefix": string | null; "created_at": string; "expires_at": string | null; "revoked_at": string | null; "last_used_at": string | null; "replaced_by": string | null; "trace_project": string | null; "key": string }
  }
  "GET /v1/preview/keys": {
    path: Record<never, never>
    query: { "after"?: string; "limit"?: number; "max_total"?: number }
    body: undefined
    answer: { "object": "list"; "data": { "id": string; "name": string | null; "role": "admin" | "member" | "read"; "prefix": string | null; "created_at": string; "expires_at": string | null; "revoked_at": string | null; "last_used_at": string | null; "replaced_by": string | null; "trace_project": string | null }[]; "has_more": boolean; "first_id": string; "last_id": string; "total"?: number }
  }
  "GET /v1/preview/keys/{key_id}": {
    path: { "key_id": string }
    query: Record<never, never>
    body: undefined
    answer: { "id": string; "name": string | null; "role": "admin" | "member" | "read"; "prefix": string | null; "created_at": string; "expires_at": string | null; "revoked_at": string | null; "last_used_at": string | null; "replaced_by": string | null; "trace_project": string | null }
  }
  "DELETE /v1/preview/keys/{key_id}": {
    path: { "key_id": string }
    query: Record<never, never>
    body: undefined
    answer: { "id": string; "name": string | null; "role": "admin" | "member" | "read"; "prefix": string | null; "created_at": string; "expires_at": string | null; "revoked_at": string | null; "last_used_at": string | null; "replaced_by": string | null; "trace_project": string | null }
  }
  "PUT /v1/preview/keys/{key_id}/trace-project": {
    path: { "key_id": string }
    query: Record<never, never>
    body: { "trace_project": string | null }
    answer: { "id": string; "name": string | null; "role": "admin" | "member" | "read"; "prefix": string | null; "created_at": string; "expires_at": string | null; "revoked_at": string | null; "last_used_at": string | null; "replaced_by": string | null; "trace_project": string | null }
  }
  "POST /v1/preview/keys/{key_id}/rotate": {
    path: { "key_id": string }
    query: Record<never, never>
    body: { "overlap_seconds"?: number | null }
    answer: { "id": string; "name": string | null; "role": "admin" | "member" | "read"; "prefix": string | null; "created_at": string; "expires_at": string | null; "revoked_at": string | null; "last_used_at": string | null; "replaced_by": string | null; "trace_project": string | null; "key": string }
  }
  "POST /v1/preview/session": {
    path: Record<never, never>
    query: Record<never, never>
    body: { "api_key"?: string; "code"?: string }
    answer: { "kind": "session" | "key"; "entity": string; "role": "admin" | "member" | "read"; "key_id": string; "created_at": string | null; "expires_at": string | null }
  }
  "GET /v1/preview/session": {
    path: Record<never, never>
    query: Record<never, never>
    body: undefined
    answer: { "kind": "session" | "key"; "entity": string; "role": "admin" | "member" | "read"; "key_id": string; "created_at": string | null; "expires_at": string | null }
  }
  "DELETE /v1/preview/session": {
    path: Record<never, never>
    query: Record<never, never>
    body: undefined
    answer: undefined
  }
  "GET /v1/preview/audit-log": {
    path: Record<never, never>
    query: { "after"?: string; "limit"?: number; "order"?: "asc" | "desc"; "action"?: "key.made" | "key.rotated" | "key.revoked" | "limits.set" | "token_statistics.set" | "trace_project.set" | "trace_retention.set" | "jobs.paused" | "jobs.resumed" | "erasure.requested" | "webhook.made" | "webhook.secret_rotated" | "webhook.deleted"; "from"?: string; "to"?: string }
    body: undefined
    answer: { "object": "list"; "data": { "id": string; "at": string; "entity": string; "actor": string; "action": "key.made" | "key.rotated" | "key.revoked" | "limits.set" | "token_statistics.set" | "trace_project.set" | "trace_retention.set" | "jobs.paused" | "jobs.resumed" | "erasure.requested" | "webhook.made" | "webhook.secret_rotated" | "webhook.deleted"; "subject": string | null; "details": Record<string, unknown> }[]; "has_more": boolean; "first_id": string; "last_id": string }
  }
  "GET /v1/preview/limits": {
    path: Record<never, never>
    query: Record<never, never>
    body: undefined
    answer: { "entity": string; "requests_per_minute": number | null; "tokens_per_minute": number | null; "concurrent_streams": number | null; "event_streams": number | null; "queued_jobs": number | null; "stored_bytes": number | null; "gpu_seconds_per_day": number | null; "payload_days": number | null; "run_days": number | null; "weight": number; "token_statistics": "off" | "sampled" | "all"; "trace_project": string; "paused": boolean; "paused_by_administrator": boolean; "in_use": { "queued_jobs": number; "stored_bytes": number; "gpu_seconds_today": number } }
  }
  "PUT /v1/preview/limits/token-statistics": {
    path: Record<never, never>
    query: Record<never, never>
    body: { "token_statistics": "off" | "sampled" | "all" | null }
    answer: { "entity": string; "requests_per_minute": number | null; "tokens_per_minute": number | null; "concurrent_streams": number | null; "event_streams": number | null; "queued_jobs": number | null; "stored_bytes": number | null; "gpu_seconds_per_day": number | null; "payload_days": number | null; "run_days": number | null; "weight": number; "token_statistics": "off" | "sampled" | "all"; "trace_project": string; "paused": boolean; "paused_by_administrator": boolean; "in_use": { "queued_jobs": number; "stored_bytes": number; "gpu_seconds_today": number } }
  }
  "PUT /v1/preview/limits/paused": {
    path: Record<never, never>
    query: Record<never, never>
    body: { "paused": boolean }
    answer: { "entity": string; "requests_per_minute": number | null; "tokens_per_minute": number | null; "concurrent_streams": number | null; "event_streams": number | null; "queued_jobs": number | null; "stored_bytes": number | null; "gpu_seconds_per_day": number | null; "payload_days": number | null; "run_days": number | null; "weight": number; "token_statistics": "off" | "sampled" | "all"; "trace_project": string; "paused": boolean; "paused_by_administrator": boolean; "in_use": { "queued_jobs": number; "stored_bytes": number; "gpu_seconds_today": number } }
  }
  "PUT /v1/preview/limits/trace-project": {
    path: Record<never, never>
    query: Record<never, never>
    body: { "trace_project": string | null }
    answer: { "entity": string; "requests_per_minute": number | null; "tokens_per_minute": number | null; "concurrent_streams": number | null; "event_streams": number | null; "queued_jobs": number | null; "stored_bytes": number | null; "gpu_seconds_per_day": number | null; "payload_days": number | null; "run_days": number | null; "weight": number; "token_statistics": "off" | "sampled" | "all"; "trace_project": string; "paused": boolean; "paused_by_administrator": boolean; "in_use": { "queued_jobs": number; "stored_bytes": number; "gpu_seconds_today": number } }
  }
  "GET /v1/preview/usage": {
    path: Record<never, never>
    query: { "from"?: string; "to"?: string; "group_by"?: string; "project"?: string; "model_id"?: string; "key_id"?: string; "after"?: string; "limit"?: number }
    body: undefined
    answer: { "object": "list"; "data": { "id": string; "project"?: string | null; "model"?: string; "model_id"?: string | null; "key_id"?: string | null; "hour"?: string; "day"?: string; "requests": number; "prompt_tokens": number; "completion_tokens": number; "trained_tokens": number; "training_seconds": number; "gpu_seconds": number }[]; "has_more": boolean; "first_id": string; "last_id": string }
  }
  "GET /v1/system-check": {
    path: Record<never, never>
    query: Record<never, never>
    body: undefined
    answer: { "ok": boolean; "checked_at": string; "parts": Record<string, { "ok": boolean; "detail": string }> }
  }
  "POST /traces/v2/{entity}/{project}/calls/complete": {
    path: { "entity": string; "project": string }
    query: Record<never, never>
    body: { "batch": { "project_id": string; "id": string; "trace_id": string; "op_name": string; "display_name"?: string | null; "parent_id"?: string | null; "thread_id"?: string | null; "turn_id"?: string | null; "started_at": string; "attributes": unknown; "inputs": unknown; "otel_dump"?: unknown; "wb_run_id"?: string | null; "wb_run_step"?: number | null; "ended_at": string; "output"?: unknown; "exception"?: string | null; "summary": unknown; "wb_run_step_end"?: number | null }[] }
    answer: Record<string, unknown>
  }
  "POST /traces/call/start": {
    path: Record<never, never>
    query: Record<never, never>
    body: { "start": { "project_id": string; "id"?: string | null; "trace_id"?: string | null; "op_name": string; "display_name"?: string | null; "parent_id"?: string | null; "thread_id"?: string | null; "turn_id"?: string | null; "started_at": string; "attributes": unknown; "inputs": unknown; "otel_dump"?: unknown; "wb_run_id"?: string | null; "wb_run_step"?: number | null } }
    answer: { "id": string; "trace_id": string }
  }
  "POST /traces/v2/{entity}/{project}/call/start": {
    path: { "entity": string; "project": string }
    query: Record<never, never>
    body: { "start": { "project_id": string; "id"?: string | null; "trace_id"?: string | null; "op_name": string; "display_name"?: string | null; "parent_id"?: string | null; "thread_id"?: string | null; "turn_id"?: string | null; "started_at": string; "attributes": unknown; "inputs": unknown; "otel_dump"?: unknown; "wb_run_id"?: string | null; "wb_run_step"?: number | null } }
    answer: { "id": string; "trace_id": string }
  }
  "POST /traces/call/end": {
    path: Record<never, never>
    query: Record<never, never>
    body: { "end": { "project_id": string; "id": string; "ended_at": string; "output"?: unknown; "exception"?: string | null; "summary": unknown; "wb_run_step_end"?: number | null } }
    answer: Record<string, unknown>
  }
  "POST /traces/v2/{entity}/{project}/call/end": {
    path: { "entity": string; "project": string }
    query: Record<never, never>
    body: { "end": { "project_id": string; "id": string; "ended_at": string; "output"?: unknown; "exception"?: string | null; "summary": unknown; "wb_run_step_end"?: number | null } }
    answer: Record<string, unknown>
  }
  "POST /traces/call/upsert_batch": {
    path: Record<never, never>
    query: Record<never, never>
    body: { "batch": { "mode": "start" | "end" }[] }
    answer: undefined
  }
  "POST /traces/calls/stream_query": {
    path: Record<never, never>
    query: Record<never, never>
    body: { "project_id": string; "filter"?: { "op_names"?: string[] | null; "input_refs"?: string[] | null; "output_refs"?: string[] | null; "parent_ids"?: string[] | null; "trace_ids"?: string[] | null; "call_ids"?: string[] | null; "thread_ids"?: string[] | null; "turn_ids"?: string[] | null; "wb_user_ids"?: string[] | null; "wb_run_ids"?: string[] | null; "trace_roots_only"?: boolean | null } | null; "query"?: { "$expr": Record<string, unknown> } | null; "limit"?: number | null; "expand_columns"?: string[] | null; "offset"?: number | null; "sort_by"?: { "field": string; "direction": "asc" | "desc" }[] | null; "columns"?: string[] | null; "include_costs"?: boolean | null; "include_feedback"?: boolean | null; "include_storage_size"?: boolean | null; "include_total_storage_size"?: boolean | null; "include_usernames"?: boolean | null; "return_expanded_column_values"?: boolean | null }
    answer: undefined
  }
  "POST /traces/calls/query": {
    path: Record<never, never>
    query: Record<never, never>
    body: { "project_id": string; "filter"?: { "op_names"?: string[] | null; "input_refs"?: string[] | null; "output_refs"?: string[] | null; "parent_ids"?: string[] | null; "trace_ids"?: string[] | null; "call_ids"?: string[] | null; "thread_ids"?: string[] | null; "turn_ids"?: string[] | null; "wb_user_ids"?: string[] | null; "wb_run_ids"?: string[] | null; "trace_roots_only"?: boolean | null } | null; "query"?: { "$expr": Record<string, unknown> } | null; "limit"?: number | null; "expand_columns"?: string[] | null; "offset"?: number | null; "sort_by"?: { "field": string; "direction": "asc" | "desc" }[] | null; "columns"?: string[] | null; "include_costs"?: boolean | null; "include_feedback"?: boolean | null; "include_storage_size"?: boolean | null; "include_total_storage_size"?: boolean | null; "include_usernames"?: boolean | null; "return_expanded_column_values"?: boolean | null }
    answer: { "calls": { "id": string; "project_id": string; "trace_id": string; "op_name": string; "started_at": string; "attributes": Record<string, unknown>; "inputs": Record<string, unknown> }[] }
  }
  "POST /traces/calls/query_stats": {
    path: Record<never, never>
    query: Record<never, never>
    body: { "project_id": string; "filter"?: { "op_names"?: string[] | null; "input_refs"?: string[] | null; "output_refs"?: string[] | null; "parent_ids"?: string[] | null; "trace_ids"?: string[] | null; "call_ids"?: string[] | null; "thread_ids"?: string[] | null; "turn_ids"?: string[] | null; "wb_user_ids"?: string[] | null; "wb_run_ids"?: string[] | null; "trace_roots_only"?: boolean | null } | null; "query"?: { "$expr": Record<string, unknown> } | null; "limit"?: number | null; "expand_columns"?: string[] | null; "include_total_storage_size"?: boolean | null }
    answer: { "count": number; "total_storage_size_bytes": number | null }
  }
  "POST /traces/call/read": {
    path: Record<never, never>
    query: Record<never, never>
    body: { "project_id": string; "id": string; "include_costs"?: boolean | null; "include_storage_size"?: boolean | null; "include_total_storage_size"?: boolean | null }
    answer: { "call": { "id": string; "project_id": string; "trace_id": string; "op_name": string; "started_at": string; "attributes": Record<string, unknown>; "inputs": Record<string, unknown> } | null }
  }
  "POST /traces/call/update": {
    path: Record<never, never>
    query: Record<never, never>
    body: { "project_id": string; "call_id": string; "display_name"?: string | null }
    answer: Record<string, unknown>
  }
  "POST /traces/calls/delete": {
    path: Record<never, never>
    query: Record<never, never>
    body: { "project_id": string; "call_ids": string[] }
    answer: { "num_deleted": number }
  }
  "POST /traces/obj/create": {
    path: Record<never, never>
    query: Record<never, never>
    body: { "obj": { "project_id": string; "object_id": string; "val": unknown; "builtin_object_class"?: string | null; "expected_digest"?: string | null } }
    answer: { "digest": string; "object_id": string }
  }
  "POST /traces/obj/read": {
    path: Record<never, never>
    query: Record<never, never>
    body: { "project_id": string; "object_id": string; "digest": string; "metadata_only"?: boolean | null; "include_tags_and_aliases"?: boolean | null }
    answer: { "obj": { "project_id": string; "object_id": string; "created_at": string; "deleted_at"?: string | null; "digest": string; "version_index": number; "is_latest": number; "kind": string; "base_object_class"?: string | null; "leaf_object_class"?: string | null; "val": unknown; "wb_user_id": string; "size_bytes"?: number | null; "tags"?: string[]; "aliases"?: string[] } }
  }
  "POST /traces/objs/query": {
    path: Record<never, never>
    query: Record<never, never>
    body: { "project_id": string; "filter"?: { "base_object_classes"?: string[] | null; "exclude_base_object_classes"?: string[] | null; "leaf_object_classes"?: string[] | null; "object_ids"?: string[] | null; "is_op"?: boolean | null; "latest_only"?: boolean | null; "tags"?: string[] | null; "aliases"?: string[] | null } | null; "limit"?: number | null; "offset"?: number | null; "sort_by"?: { "field": string; "direction": "asc" | "desc" }[] | null; "metadata_only"?: boolean | null; "include_storage_size"?: boolean | null; "include_tags_and_aliases"?: boolean | null }
    answer: { "objs": { "project_id": string; "object_id": string; "created_at": string; "deleted_at"?: string | null; "digest": string; "version_index": number; "is_latest": number; "kind": string; "base_object_class"?: string | null; "leaf_object_class"?: string | null; "val": unknown; "wb_user_id": string; "size_bytes"?: number | null; "tags"?: string[]; "aliases"?: string[] }[] }
  }
  "POST /traces/obj/delete": {
    path: Record<never, never>
    query: Record<never, never>
    body: { "project_id": string; "object_id": string; "digests"?: string[] | null }
    answer: { "num_deleted": number }
  }
  "PUT /traces/objs/{object_id}/versions/{digest}/tags": {
    path: { "object_id": string; "digest": string }
    query: Record<never, never>
    body: { "project_id": string; "tags": string[] }
    answer: Record<string, unknown>
  }
  "POST /traces/objs/{object_id}/versions/{digest}/tags/remove": {
    path: { "object_id": string; "digest": string }
    query: Record<never, never>
    body: { "project_id": string; "tags": string[] }
    answer: Record<string, unknown>
  }
  "GET /traces/tags": {
    path: Record<never, never>
    query: { "project_id": string }
    body: undefined
    answer: { "tags": string[] }
  }
  "PUT /traces/objs/{object_id}/aliases": {
    path: { "object_id": string }
    query: Record<never, never>
    body: { "project_id": string; "digest": string; "aliases": string[] }
    answer: Record<string, unknown>
  }
  "POST /traces/objs/{object_id}/aliases/remove": {
    path: { "object_id": string }
    query: Record<never, never>
    body: { "project_id": string; "aliases": string[] }
    answer: Record<string, unknown>
  }
  "GET /traces/aliases": {
    path: Record<never, never>
    query: { "project_id": string }
    body: undefined
    answer: { "aliases": string[] }
  }
  "POST /traces/table/create": {
    path: Record<never, never>
    query: Record<never, never>
    body: { "table": { "project_id": string; "rows": unknown; "expected_digest"?: string | null } }
    answer: { "digest": string; "row_digests": string[] }
  }
  "POST /traces/table/create_from_digests": {
    path: Record<never, never>
    query: Record<never, never>
    body: { "project_id": string; "row_digests": string[]; "expected_digest"?: string | null }
    answer: { "digest": string }
  }
  "POST /traces/table/update": {
    path: Record<never, never>
    query: Record<never, never>
    body: { "project_id": string; "base_digest": string; "updates": { "append"?: { "row": unknown } | null; "pop"?: { "index": number } | null; "insert"?: { "index": number; "row": unknown } | null }[] }
    answer: { "digest": string; "updated_row_digests": string[] }
  }
  "POST /traces/table/query": {
    path: Record<never, never>
    query: Record<never, never>
    body: { "project_id": string; "digest": string; "filter"?: { "row_digests"?: string[] | null } | null; "limit"?: number | null; "offset"?: number | null; "sort_by"?: { "field": string; "direction": "asc" | "desc" }[] | null }
    answer: { "rows": { "digest": string; "val": unknown; "original_index": number }[] }
  }
  "POST /traces/table/query_stream": {
    path: Record<never, never>
    query: Record<never, never>
    body: { "project_id": string; "digest": string; "filter"?: { "row_digests"?: string[] | null } | null; "limit"?: number | null; "offset"?: number | null; "sort_by"?: { "field": string; "direction": "asc" | "desc" }[] | null }
    answer: undefined
  }
  "POST /traces/table/query_stats": {
    path: Record<never, never>
    query: Record<never, never>
    body: { "project_id": string; "digest": string }
    answer: { "count": number }
  }
  "POST /traces/table/query_stats_batch": {
    path: Record<never, never>
    query: Record<never, never>
    body: { "project_id": string; "digests"?: string[] | null; "include_storage_size"?: boolean | null }
    answer: { "tables": { "digest": string; "count": number; "storage_size_bytes"?: number | null }[] }
  }
  "POST /traces/file/create": {
    path: Record<never, never>
    query: Record<never, never>
    body: undefined
    answer: { "digest": string }
  }
  "POST /traces/file/content": {
    path: Record<never, never>
    query: Record<never, never>
    body: { "project_id": string; "digest": string }
    answer: undefined
  }
  "POST /traces/files/create": {
    path: Record<never, never>
    query: Record<never, never>
    body: undefined
    answer: { "digest": string }
  }
  "POST /traces/files/content": {
    path: Record<never, never>
    query: Record<never, never>
    body: { "project_id": string; "digest": string }
    answer: undefined
  }
  "POST /traces/files/query_stats": {
    path: Record<never, never>
    query: Record<never, never>
    body: { "project_id": string }
    answer: { "total_size_bytes": number }
  }
  "POST /traces/files/stats": {
    path: Record<never, never>
    query: Record<never, never>
    body: { "project_id": string }
    answer: { "total_size_bytes": number }
  }
  "POST /traces/refs/read_batch": {
    path: Record<never, never>
    query: Record<never, never>
    body: { "refs": string[] }
    answer: { "vals": unknown[] }
  }
  "POST /traces/otel/v1/traces": {
    path: Record<never, never>
    query: Record<never, never>
    body: Record<string, unknown>
    answer: { "partial_success"?: { "rejected_spans": number; "error_message": string } | null }
  }
  "POST /traces/otel/v1/trace": {
    path: Record<never, never>
    query: Record<never, never>
    body: Record<string, unknown>
    answer: { "partial_success"?: { "rejected_spans": number; "error_message": string } | null }
  }
  "POST /traces/agents/otel/v1/traces": {
    path: Record<never, never>
    query: Record<never, never>
    body: Record<string, unknown>
    answer: { "partial_success"?: { "rejected_spans": number; "error_message": string } | null }
  }
  "POST /traces/feedback/create": {
    path: Record<never, never>
    query: Record<never, never>
    body: { "project_id": string; "id"?: string | null; "weave_ref": string; "creator"?: string | null; "feedback_type": string; "payload": unknown; "annotation_ref"?: string | null; "runnable_ref"?: string | null; "call_ref"?: string | null; "trigger_ref"?: string | null }
    answer: { "id": string; "created_at": string; "wb_user_id": string; "payload": Record<string, unknown> }
  }
  "POST /traces/feedback/batch/create": {
    path: Record<never, never>
    query: Record<never, never>
    body: { "batch": { "project_id": string; "id"?: string | null; "weave_ref": string; "creator"?: string | null; "feedback_type": string; "payload": unknown; "annotation_ref"?: string | null; "runnable_ref"?: string | null; "call_ref"?: string | null; "trigger_ref"?: string | null }[] }
    answer: { "res": { "id": string; "created_at": string; "wb_user_id": string; "payload": Record<string, unknown> }[] }
  }
  "POST /traces/feedback/replace": {
    path: Record<never, never>
    query: Record<never, never>
    body: { "project_id": string; "id"?: string | null; "weave_ref": string; "creator"?: string | null; "feedback_type": string; "payload": unknown; "annotation_ref"?: string | null; "runnable_ref"?: string | null; "call_ref"?: string | null; "trigger_ref"?: string | null; "feedback_id": string }
    answer: { "id": string; "created_at": string; "wb_user_id": string; "payload": Record<string, unknown> }
  }
  "POST /traces/feedback/query": {
    path: Record<never, never>
    query: Record<never, never>
    body: { "project_id": string; "fields"?: string[] | null; "query"?: { "$expr": Record<string, unknown> } | null; "sort_by"?: { "field": string; "direction": "asc" | "desc" }[] | null; "limit"?: number | null; "offset"?: number | null }
    answer: { "result": Record<string, unknown>[] }
  }
  "POST /traces/feedback/purge": {
    path: Record<never, never>
    query: Record<never, never>
    body: { "project_id": string; "query": { "$expr": Record<string, unknown> } }
    answer: Record<string, unknown>
  }
  "POST /traces/cost/create": {
    path: Record<never, never>
    query: Record<never, never>
    body: { "project_id": string; "costs": Record<string, { "prompt_token_cost": number; "completion_token_cost": number; "prompt_token_cost_unit"?: string | null; "completion_token_cost_unit"?: string | null; "effective_date"?: string | null; "provider_id"?: string | null; "cache_read_input_token_cost"?: number | null; "cache_creation_input_token_cost"?: number | null }> }
    answer: { "ids": string[][] }
  }
  "POST /traces/cost/query": {
    path: Record<never, never>
    query: Record<never, never>
    body: { "project_id": string; "fields"?: string[] | null; "query"?: { "$expr": Record<string, unknown> } | null; "sort_by"?: { "field": string; "direction": "asc" | "desc" }[] | null; "limit"?: number | null; "offset"?: number | null }
    answer: { "results": Record<string, unknown>[] }
  }
  "POST /traces/cost/purge": {
    path: Record<never, never>
    query: Record<never, never>
    body: { "project_id": string; "query": { "$expr": Record<string, unknown> } }
    answer: Record<string, unknown>
  }
  "POST /traces/threads/stream_query": {
    path: Record<never, never>
    query: Record<never, never>
    body: { "project_id": string; "filter"?: { "after_datetime"?: string | null; "before_datetime"?: string | null; "thread_ids"?: string[] | null } | null; "limit"?: number | null; "offset"?: number | null; "sort_by"?: { "field": string; "direction": "asc" | "desc" }[] | null }
    answer: undefined
  }
  "POST /traces/completions/create": {
    path: Record<never, never>
    query: Record<never, never>
    body: { "project_id": string; "inputs": unknown; "track_llm_call"?: boolean | null; "trace_id"?: string | null; "parent_id"?: string | null }
    answer: { "response": Record<string, unknown>; "weave_call_id": string | null }
  }
  "POST /traces/completions/create_stream": {
    path: Record<never, never>
    query: Record<never, never>
    body: { "project_id": string; "inputs": unknown; "track_llm_call"?: boolean | null; "trace_id"?: string | null; "parent_id"?: string | null }
    answer: undefined
  }
  "GET /traces/server_info": {
    path: Record<never, never>
    query: Record<never, never>
    body: undefined
    answer: { "min_required_weave_python_version": string; "trace_server_version": string }
  }
  "POST /traces/service/projects_info": {
    path: Record<never, never>
    query: Record<never, never>
    body: { "project_ids": string[] }
    answer: { "external_project_id": string; "internal_project_id": string }[]
  }
  "POST /traces/project/stats": {
    path: Record<never, never>
    query: Record<never, never>
    body: { "project_id": string; "include_trace_storage_size"?: boolean | null; "include_object_storage_size"?: boolean | null; "include_table_storage_size"?: boolean | null; "include_file_storage_size"?: boolean | null }
    answer: { "trace_storage_size_bytes": number; "objects_storage_size_bytes": number; "tables_storage_size_bytes": number; "files_storage_size_bytes": number }
  }
}

/** The settings of training jobs by their method, with what an absent one means. */
export const jobSettings: Record<'RL' | 'SFT', readonly { name: string; description: string; defaultValue: string }[]> = {
  RL: [
    {"name":"advantage_balance","description":"Above 0 it weakens negative advantages, below 0 positive ones.","defaultValue":"0"},
    {"name":"epsilon","description":"How far below 1 the importance ratio is clipped.","defaultValue":"1 (0.2 with `ppo`)"},
    {"name":"epsilon_high","description":"How far above 1 the importance ratio is clipped.","defaultValue":"4 (that of `epsilon` with `ppo`)"},
    {"name":"importance_sampling_level","description":"Whose importance ratio a token has: its own, its sequence's (the exponential of the mean difference of log-probabilities), the average of both, or their geometric average.","defaultValue":"token"},
    {"name":"kimi_k2_tau","description":"This times the difference between a token's new and old log-probability is subtracted from its advantage; nothing when absent.","defaultValue":"–"},
    {"name":"modelfamily_k2_tau","description":"Another name of `kimi_k2_tau`.","defaultValue":"–"},
    {"name":"learning_rate","description":"The learning rate of AdamW.","defaultValue":"5e-6"},
    {"name":"loss_fn","description":"The policy loss, CISPO or the clipped loss of PPO. When absent, `ppo` decides. The two must not disagree.","defaultValue":"–"},
    {"name":"mask_prob_ratio","description":"Leave out tokens whose ratio would be clipped.","defaultValue":"false"},
    {"name":"max_negative_advantage_importance_sampling_weight","description":"The highest importance ratio of a token, whatever the sign of its advantage; unbounded when absent.","defaultValue":"–"},
    {"name":"ppo","description":"The clipped PPO loss instead of CISPO.","defaultValue":"false"},
    {"name":"precalculate_logprobs","description":"Compute the old log-probabilities with the trainer before the first step, instead of using the sampled ones.","defaultValue":"false"},
    {"name":"scale_rewards","description":"Divide advantages by the standard deviation of their group, if `normalize_advantages` is true too.","defaultValue":"true"},
    {"name":"normalize_advantages","description":"Another name of `scale_rewards` in newer clients, which send both. Either one that is false decides.","defaultValue":"true"},
    {"name":"allow_training_without_logprobs","description":"Train answers that came without log-probabilities too, as if the model itself had just sampled them. Otherwise they are left out.","defaultValue":"false"},
    {"name":"mask_truncated","description":"Leave out answers that ended because of their limit of tokens. They are context only, and are counted.","defaultValue":"false"},
    {"name":"packed_sequence_length","description":"How many tokens a packed sequence of the job has at most. Longer results are left out, and counted. More sequences can make more gradient steps.","defaultValue":"–"},
    {"name":"num_trajectories_learning_rate_multiplier_power","description":"The learning rate of a gradient step is multiplied by its number of answers to this power. Metrics have the rate without it.","defaultValue":"0"},
    {"name":"kl_penalty_coef","description":"How strongly the model is held near the reference. A token loses this much advantage for each nat by which the model has made it likelier than the reference does, relative to the mean of its step. The metric is `kl_policy_ref`. Without effect when it is negative.","defaultValue":"0"},
    {"name":"kl_penalty_reference_step","description":"The model's step that is the reference; the base model when absent or 0.","defaultValue":"–"},
    {"name":"kl_penalty_step_lag","description":"Makes the reference the step that is this many before the one that the job begins from, the base model if there are not so many. Excludes `kl_penalty_reference_step`.","defaultValue":"–"},
    {"name":"kl_penalty_source","description":"Whose log-probability of a token is compared with the reference's: that of the model in training, or that of the model that sampled it.","defaultValue":"sample"},
    {"name":"truncated_importance_sampling","description":"Weigh each token by the ratio of its probabilities in the trainer and in the sampler, at most by this; no weights when absent or 0. It needs `precalculate_logprobs`.","defaultValue":"–"},
    {"name":"logprob_calculation_chunk_size","description":"Accepted, without effect: How many rows of log-probabilities the hosted service computes at once.","defaultValue":"–"},
    {"name":"plot_tensors","description":"Accepted, without effect: Draw pictures of packed sequences.","defaultValue":"false"},
    {"name":"scale_learning_rate_by_reward_std_dev","description":"Accepted, without effect: Clients send it, and no trainer of theirs reads it.","defaultValue":"false"},
  ],
  SFT: [
    {"name":"batch_size","description":"How many rows a batch has.","defaultValue":"2"},
    {"name":"learning_rate","description":"The learning rate of AdamW. A list has a rate for each batch; rates beyond the last batch are ignored.","defaultValue":"5e-5"},
    {"name":"assistant_turns","description":"Which turns of the assistant are trained: all, or only the last message of each row, which must then be one of the assistant.","defaultValue":"all"},
    {"name":"metric_logging","description":"Whether the metrics of the job become rows of its W&B run, and at which step.","defaultValue":"–"},
  ],
}
