/** Formats a time as Kubernetes' MicroTime. */
export function formatMicroTime(time: Date): string {
  return time.toISOString().replace('Z', '000Z')
}
