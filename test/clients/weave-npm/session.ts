import * as weave from 'weave'

export type Client = Awaited<ReturnType<typeof weave.init>>

/** The client of the project in WEAVE_PROJECT. */
export const begin = () => weave.init(process.env['WEAVE_PROJECT']!)

/** Prints the facts as JSON in the last line. */
export async function end(client: Client, facts: object): Promise<void> {
  await client.waitForBatchProcessing()
  process.stdout.write(`\n${JSON.stringify(facts)}\n`)
}

/** Returns `add` of `weave:///entity/project/op/add:DIGEST`. */
export const nameOf = (opName: string) => opName.split('/').at(-1)!.split(':')[0]!
