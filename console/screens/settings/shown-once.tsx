import { Command } from '../../parts/command.tsx'
import controls from '../../parts/controls.module.css'
import { Dialog } from '../../parts/dialog.tsx'

interface ShownOnceProps {
  title: string
  secret: string
  note: string
  onClose: () => void
}

/** A secret that the server has just made, and never shows again. */
export function ShownOnce({ title, secret, note, onClose }: ShownOnceProps) {
  return (
    <Dialog title={title} onClose={onClose}>
      <form method="dialog">
        <p>{note}</p>
        <Command text={secret} />
        <button type="submit" className={controls.primary}>
          I have copied it
        </button>
      </form>
    </Dialog>
  )
}
