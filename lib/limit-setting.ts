import { Type } from 'typebox'

/** How people write that there is no limit. */
export const noLimit = 'none'

/** A setting of a limit, a number or none. `defaultValue` holds if nothing is set. */
export function limitSetting(defaultValue: number | typeof noLimit, maximum: number) {
  return Type.Union([Type.Integer({ minimum: 0, maximum }), Type.Literal(noLimit)], { default: defaultValue })
}

/** The number of a setting; Infinity means no limit. */
export function readLimit(setting: number | typeof noLimit): number {
  return setting === noLimit ? Infinity : setting
}
