export const dayMs = 24 * 3_600_000

/** A length of time in at most two units. */
export function formatDuration(milliseconds: number): string {
  const seconds = milliseconds / 1000
  if (seconds < 0.9995) return `${Math.max(0, Math.round(milliseconds))} ms`
  if (seconds < 9.95) return `${seconds.toFixed(1)} s`
  const whole = Math.round(seconds)
  if (whole < 60) return `${whole} s`
  const minutes = Math.floor(whole / 60)
  if (minutes < 60) return join(minutes, 'min', whole % 60, 's')
  const hours = Math.floor(minutes / 60)
  return hours < 48 ? join(hours, 'h', minutes % 60, 'min') : join(Math.floor(hours / 24), 'd', hours % 24, 'h')
}

function join(large: number, largeUnit: string, small: number, smallUnit: string): string {
  return small === 0 ? `${large} ${largeUnit}` : `${large} ${largeUnit} ${small} ${smallUnit}`
}

/** How long ago a time was, in one unit. */
export function formatAge(time: string, now: number): string {
  const seconds = (now - Date.parse(time)) / 1000
  if (seconds < 5) return 'just now'
  const [value, unit] =
    seconds < 60
      ? [seconds, 's']
      : seconds < 3600
        ? [seconds / 60, 'min']
        : seconds < 86_400
          ? [seconds / 3600, 'h']
          : [seconds / 86_400, 'd']
  return `${Math.floor(value)} ${unit} ago`
}

/** How long a time is away, roughly and in words. */
export function formatUntil(time: string, now: number): string {
  const minutes = (Date.parse(time) - now) / 60_000
  if (minutes < 1) return 'in less than a minute'
  if (minutes < 90) return about(minutes, 'minute')
  const hours = minutes / 60
  return hours < 36 ? about(hours, 'hour') : about(hours / 24, 'day')
}

function about(amount: number, unit: string): string {
  const count = Math.round(amount)
  return `in about ${count} ${unit}${count === 1 ? '' : 's'}`
}

const full = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'medium' })
const clock = new Intl.DateTimeFormat('en', { hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' })

export function formatTime(time: string): string {
  return full.format(new Date(time))
}

export function formatClock(time: string): string {
  return clock.format(new Date(time))
}
