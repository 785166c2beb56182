import { installGoTool } from './go-tool.ts'

/** Builds the tests' S3 server with Go from the pinned modules, or finds it in the cache. */
export function installS3Server(): Promise<string> {
  return installGoTool({ program: 'versitygw', package: 'github.com/versity/versitygw/cmd/versitygw', folder: 's3' })
}
