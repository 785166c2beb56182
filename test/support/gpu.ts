import { spawnSync } from 'node:child_process'

/** The machine's GPUs from nvidia-smi: a line for each with its driver. Empty without nvidia-smi. */
export function listGpus(): string[] {
  const args = ['--query-gpu=name,memory.total,driver_version', '--format=csv,noheader']
  const { status, stdout } = spawnSync('nvidia-smi', args, { encoding: 'utf8' })
  return status === 0 ? stdout.split('\n').filter(Boolean) : []
}
