// RFC 3339, and what people write: a time without a zone means UTC, and a day means its beginning.
const pattern = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d:\d\d)(\.\d+)?(Z|[+-]\d\d:\d\d)?)?$/i

/** Parses a time in the years that Postgres and JSON can represent; undefined for any other text. */
export function parseTime(text: string): Date | undefined {
  const match = pattern.exec(text)
  if (!match) return undefined
  const [, day, clock = '00:00:00', fraction = '', zone = 'Z'] = match
  // A clock without leap seconds counts a leap second as the last second of its minute.
  const time = new Date(`${day}T${clock.replace(/:60$/, ':59')}${fraction.slice(0, 4)}${zone.toUpperCase()}`)
  const year = time.getUTCFullYear()
  return year >= 1 && year <= 9_999 && !isRolledOver(time, day!, zone) ? time : undefined
}

// JavaScript parses February 30 as a day in March.
function isRolledOver(time: Date, day: string, zone: string): boolean {
  const [, sign, hours, minutes] = /([+-])(\d\d):(\d\d)/.exec(zone) ?? []
  const offsetMs = sign ? Number(`${sign}1`) * (Number(hours) * 60 + Number(minutes)) * 60_000 : 0
  return new Date(time.getTime() + offsetMs).getUTCDate() !== Number(day.slice(8))
}
