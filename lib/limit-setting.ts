import { Type } from 'typebox'

/** The name of no limit, where people write limits. */
export const noLimit = 'none'

/** A setting of a limit, a number or none; `defaultValue` where nothing is set. */
export function limitSetting(defaultValue: number | typeof noLimit, maximum: number) {
  return Type.Union([Type.Integer({ minimum: 0, maximum }), Type.Literal(noLimit)], { default: defaultValue })
}

/** What a setting says; Infinity is no limit. */
export function readLimit(setting: number | typeof noLimit): number {
  return setting === noLimit ? Infinity : setting
}
