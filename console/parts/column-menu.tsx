import { Choices } from './choices.tsx'
import classes from './choices.module.css'
import { Popover } from './popover.tsx'

interface ColumnMenuProps {
  names: readonly string[]
  isShown: (name: string) => boolean
  onToggle: (name: string) => void
  /** The columns that stay at the left, and what changes that. */
  pins?: { pinned: readonly string[]; onPin: (name: string) => void }
}

/** Which columns of a table are shown. */
export function ColumnMenu({ names, isShown, onToggle, pins }: ColumnMenuProps) {
  return (
    <Popover id="columns" label="Columns">
      <Choices label="Columns" choices={names.map((value) => ({ value, isOn: isShown(value) }))} onToggle={onToggle} />
      {pins && (
        <>
          <h3 className={classes.heading}>Stay at the left</h3>
          <Choices
            label="Stay at the left"
            choices={names.filter(isShown).map((value) => ({ value, isOn: pins.pinned.includes(value) }))}
            onToggle={pins.onPin}
          />
        </>
      )}
    </Popover>
  )
}
