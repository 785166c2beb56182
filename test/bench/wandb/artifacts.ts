import { writeFile } from 'node:fs/promises'
import { createS3Client } from '../../../lib/s3-client.ts'
import type { S3Server } from '../../support/s3-server.ts'
import { commitArtifact, createArtifact, linkFile, putManifest } from '../../support/wandb-upload.ts'
import type { BenchServer } from '../bench-server.ts'
import { readCpu, subtractCpu } from '../gateway/processor.ts'
import { readMemoryMb } from '../memory.ts'
import { median, round, type BenchResult } from '../result.ts'
import { presign } from './presign.ts'
import { get, makeContent, put, type Content } from './transfer.ts'

const warmUpMegabytes = 64

export interface ArtifactOptions {
  megabytes: number
  rounds: number
}

type Side = 'plain' | 'ours'

/** A file up and down: directly to the S3 server, and through links of the apiserver, by turns. */
export async function measureArtifacts(
  server: BenchServer,
  s3: S3Server,
  { megabytes, rounds }: ArtifactOptions,
): Promise<BenchResult> {
  const seconds = {
    plain: { up: [] as number[], down: [] as number[] },
    ours: { up: [] as number[], down: [] as number[] },
  }
  const memory: { beforeMb: number; peakMb: number }[] = []
  const processor: number[] = []
  for (let index = -1; index < rounds; index++) {
    const content = makeContent(index === -1 ? warmUpMegabytes : megabytes)
    const plain = await transferPlain(s3, content)
    const beforeMb = await readMemoryMb(server.pid, 'VmRSS')
    // Resets the kernel's peak.
    await writeFile(`/proc/${server.pid}/clear_refs`, '5')
    const before = readCpu([server.pid])
    const ours = await transferOurs(server, `file-${index}`, content)
    const used = subtractCpu(readCpu([server.pid]), before)
    const times = { plain, ours }
    process.stderr.write(`round ${index + 1} of ${rounds}: ${JSON.stringify(times)}\n`)
    // The first round warms up.
    if (index === -1) continue
    processor.push(used)
    memory.push({ beforeMb, peakMb: await readMemoryMb(server.pid, 'VmHWM') })
    for (const side of ['plain', 'ours'] as Side[]) {
      seconds[side].up.push(times[side].up)
      seconds[side].down.push(times[side].down)
    }
  }
  const ratio = (way: 'up' | 'down') =>
    round(median(seconds.plain[way].map((plain, index) => plain / seconds.ours[way][index]!)))
  const speed = (side: Side, way: 'up' | 'down') => round((megabytes * 1.048576) / median(seconds[side][way]))
  return {
    ratios: { upload_to_plain_put: ratio('up'), download_to_plain_get: ratio('down') },
    figures: {
      plain_put_mb_per_s: speed('plain', 'up'),
      upload_mb_per_s: speed('ours', 'up'),
      plain_get_mb_per_s: speed('plain', 'down'),
      download_mb_per_s: speed('ours', 'down'),
      processor_s_up_and_down: round(median(processor) / 1e6),
      rss_before_mb: round(median(memory.map(({ beforeMb }) => beforeMb))),
      memory_rise_mb: round(Math.max(...memory.map(({ beforeMb, peakMb }) => peakMb - beforeMb))),
      rss_peak_mb: round(Math.max(...memory.map(({ peakMb }) => peakMb))),
    },
  }
}

async function transferPlain(s3: S3Server, content: Content) {
  const client = createS3Client({ endpoint: s3.endpoint })
  const path = `/${s3.bucket}/plain`
  const up = await put(await presign(client, s3.endpoint, { method: 'PUT', path }), content)
  const down = await get(await presign(client, s3.endpoint, { method: 'GET', path }), content.size)
  return { up, down }
}

async function transferOurs({ url, apiKey: key }: BenchServer, name: string, content: Content) {
  const api = { url, key }
  const files = [{ path: 'file', md5: content.md5, size: content.size }]
  const id = await createArtifact(api, { project: 'bench', name }, files)
  const { uploadUrl } = await linkFile(api, id, files[0]!)
  const up = await put(uploadUrl!, content)
  await putManifest(api, id, files)
  const down = await get(await commitArtifact(api, id), content.size)
  return { up, down }
}
