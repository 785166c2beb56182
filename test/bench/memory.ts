import { readFile, writeFile } from 'node:fs/promises'

/** What `work` returns, and how many MiB the memory of a process rose above what it had before. */
export async function measureMemory<T>(pid: number, work: () => Promise<T>) {
  const beforeMb = await readMemoryMb(pid, 'VmRSS')
  // Resets the kernel's peak.
  await writeFile(`/proc/${pid}/clear_refs`, '5')
  const result = await work()
  const peakMb = await readMemoryMb(pid, 'VmHWM')
  return { result, peakMb, riseMb: peakMb - beforeMb }
}

/** The memory of a process in MiB: now (VmRSS), or its peak (VmHWM). */
async function readMemoryMb(pid: number, field: 'VmRSS' | 'VmHWM'): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  return Number(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]) / 1024
}
