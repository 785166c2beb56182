import { withLock } from '../../../local/entry/lock.mjs'
import { imagesFolder } from './buildah.ts'

/**
 * Runs `work` while no other run on this machine makes images or has a node: they share buildah's store, the archives of
 * images and the control groups of nodes.
 */
export function withMachine<T>(work: () => Promise<T>): Promise<T> {
  const onWait = () => console.log('another run of test:images or test:kubelet is under way on this machine; waiting')
  return withLock(`${imagesFolder} and nodes`, work, { onWait })
}
