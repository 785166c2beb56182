/** Whether an answer in the cache may differ after a change of this kind. The key of an answer begins with its name. */
export function concerns(kind: string, queryKey: readonly unknown[]): boolean {
  const [name] = queryKey
  if (typeof name !== 'string' || name === 'session') return false
  if (kind === 'reset') return true
  if (kind.startsWith('model.')) return name.includes('/models')
  const isOfJobs = name.includes('/training-jobs')
  if (kind === 'training_job.events') return isOfJobs || name.startsWith('metric')
  return isOfJobs || name.includes('/models') || name.startsWith('metric')
}
