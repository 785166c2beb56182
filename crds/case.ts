/** Converts `learning_rate` to `learningRate`. */
export function camelCase(name: string): string {
  return name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())
}

/** Converts `kimiK2Tau` to `kimi_k2_tau`. */
export function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

/** Converts `too_long` to `TooLong`. */
export function pascalCase(name: string): string {
  return camelCase(`_${name}`)
}
