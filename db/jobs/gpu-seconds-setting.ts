import { limitSetting, noLimit } from '../../lib/limit-setting.ts'

// The same as of the limits that are set for entities.
const maxGpuSeconds = 2_147_483_647

/** The limit `gpu_seconds_per_day` of entities for which none was set. Whoever reads the queue needs it. */
export const gpuSecondsSetting = {
  TRAINYARD_DEFAULT_GPU_SECONDS_PER_DAY: limitSetting(noLimit, maxGpuSeconds),
}
