import { readFile } from 'node:fs/promises'

/** The memory of a process in MiB: now (VmRSS), or its peak (VmHWM). */
export async function readMemoryMb(pid: number, field: 'VmRSS' | 'VmHWM'): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  return Number(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]) / 1024
}
