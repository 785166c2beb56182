// RFC 3339; also without a zone, which means UTC, and a day, which means its beginning: as people write them.
const pattern = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d:\d\d)(\.\d+)?(Z|[+-]\d\d:\d\d)?)?$/i

/** The time that a text names, within the years that Postgres and JSON can represent; undefined for any other text. */
export function parseTime(text: string): Date | undefined {
  const match = pattern.exec(text)
  if (!match) return undefined
  const [, day, clock = '00:00:00', fraction = '', zone = 'Z'] = match
  // A leap second is the last one of its minute to all that count without them.
  const time = new Date(`${day}T${clock.replace(/:60$/, ':59')}${fraction.slice(0, 4)}${zone.toUpperCase()}`)
  const year = time.getUTCFullYear()
  return year >= 1 && year <= 9_999 && !isRolledOver(time, day!, zone) ? time : undefined
}

// The language takes a 30th of February for a day in March.
function isRolledOver(time: Date, day: string, zone: string): boolean {
  const [, sign, hours, minutes] = /([+-])(\d\d):(\d\d)/.exec(zone) ?? []
  const offsetMs = sign ? Number(`${sign}1`) * (Number(hours) * 60 + Number(minutes)) * 60_000 : 0
  return new Date(time.getTime() + offsetMs).getUTCDate() !== Number(day.slice(8))
}
