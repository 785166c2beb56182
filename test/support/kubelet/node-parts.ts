import type { Installation } from '../../../local/install/install.ts'
import type { NodePrograms } from './node-programs.ts'
import type { Runtime } from './runtime.ts'

/** What a node is made of. */
export interface NodeParts {
  installation: Installation
  runtime: Runtime
  programs: NodePrograms
  /** Files of images. */
  archives: readonly string[]
  /** Folders of this machine that every container sees, by the path in the container. */
  shared: Readonly<Record<string, string>>
}
