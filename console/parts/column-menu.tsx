import { Choices } from './choices.tsx'
import { Popover } from './popover.tsx'

interface ColumnMenuProps {
  names: readonly string[]
  isShown: (name: string) => boolean
  onToggle: (name: string) => void
}

/** Which columns of a table are shown. */
export function ColumnMenu({ names, isShown, onToggle }: ColumnMenuProps) {
  return (
    <Popover id="columns" label="Columns">
      <Choices label="Columns" choices={names.map((value) => ({ value, isOn: isShown(value) }))} onToggle={onToggle} />
    </Popover>
  )
}
