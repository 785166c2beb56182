import { buildConsole } from '../../console/build.ts'

/** Builds the console, unless it is built from the same content. */
export default async function setUp(): Promise<void> {
  await buildConsole()
}
