import { Type } from 'typebox'
import { gpuSecondsSetting } from '../../../db/jobs/gpu-seconds-setting.ts'
import { storedBytesSetting } from '../../../artifacts/inputs/storage-quota.ts'
import { limitSetting, noLimit } from '../../../lib/limit-setting.ts'

// The request limiter's points and days are Postgres integers.
export const maxInteger = 2_147_483_647
// Several processes may count beyond a limit at once.
export const maxTokensPerMinute = 500_000_000

/**
 * The limits of entities for which nothing was set (`npm run limits`). They are far above the needs of a team, and
 * bound what a runaway program takes from others.
 */
export const limitSettings = {
  TRAINYARD_DEFAULT_REQUESTS_PER_MINUTE: limitSetting(60_000, maxInteger),
  TRAINYARD_DEFAULT_TOKENS_PER_MINUTE: limitSetting(noLimit, maxTokensPerMinute),
  TRAINYARD_DEFAULT_CONCURRENT_STREAMS: limitSetting(2_048, maxInteger),
  TRAINYARD_DEFAULT_EVENT_STREAMS: limitSetting(2_048, maxInteger),
  TRAINYARD_DEFAULT_QUEUED_JOBS: limitSetting(20_000, maxInteger),
  ...storedBytesSetting,
  ...gpuSecondsSetting,
  TRAINYARD_DEFAULT_WEIGHT: Type.Number({ minimum: 1, maximum: 100, default: 1 }),
}
