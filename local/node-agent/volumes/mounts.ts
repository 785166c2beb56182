import path from 'node:path'
import type { Container, VolumeMount } from '../objects.ts'

/** A path in the container, and the file or folder on this machine behind it. */
export interface Mount {
  mountPath: string
  realPath: string
}

/**
 * Locates a container's mounts on this machine.
 *
 * @param findVolume the folder of a volume
 * @param expandPath replaces `$(NAME)` in a subPathExpr
 */
export function locateMounts(
  container: Container,
  findVolume: (name: string) => string,
  expandPath: (text: string) => string,
): Mount[] {
  return (container.volumeMounts ?? []).map((mount) => ({
    mountPath: trimSlash(mount.mountPath),
    realPath: path.join(findVolume(mount.name), readSubPath(mount, expandPath)),
  }))
}

/**
 * Replaces a mounted path in a variable or argument by the real path, because processes here share the machine's files.
 * The path may be the whole value, follow a `=`, or be an item of a `:` list. Longer mount paths win. Text inside a
 * shell script is not changed.
 */
export function rewritePaths(value: string, mounts: Mount[]): string {
  const ordered = mounts.toSorted((a, b) => b.mountPath.length - a.mountPath.length)
  return value.replace(/(^|[=:])(\/[^=:]*)/g, (_, boundary: string, found: string) => {
    const mount = ordered.find(({ mountPath }) => found === mountPath || found.startsWith(`${mountPath}/`))
    return boundary + (mount ? mount.realPath + found.slice(mount.mountPath.length) : found)
  })
}

function readSubPath(mount: VolumeMount, expandPath: (text: string) => string): string {
  const subPath = mount.subPathExpr ? expandPath(mount.subPathExpr) : (mount.subPath ?? '')
  if (path.isAbsolute(subPath) || subPath.split('/').includes('..')) {
    throw new Error(`subPath ${subPath} of volume ${mount.name} leaves its volume`)
  }
  return subPath
}

function trimSlash(mountPath: string): string {
  return mountPath.length > 1 ? mountPath.replace(/\/+$/, '') : mountPath
}
