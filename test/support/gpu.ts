import { spawnSync } from 'node:child_process'

/** What nvidia-smi tells of the machine's GPUs, one line for each with its driver; none where there is no nvidia-smi. */
export function listGpus(): string[] {
  const args = ['--query-gpu=name,memory.total,driver_version', '--format=csv,noheader']
  const { status, stdout } = spawnSync('nvidia-smi', args, { encoding: 'utf8' })
  return status === 0 ? stdout.split('\n').filter(Boolean) : []
}
