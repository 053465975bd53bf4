package sqlstore

import (
	"errors"
	"sync/atomic"
	"time"

	"hippocampus/internal/memory"
)

// fullFor is how long a disk counts as full after it has refused a change. Processes
// that work on jobs write every few seconds.
const fullFor = 15 * time.Second

// Disk remembers when the database refused a change because its disk is full. Reads work
// then, so that only a change shows it.
type Disk struct{ refused atomic.Pointer[time.Time] }

// Full notes a change that was refused.
func (d *Disk) Full() {
	now := time.Now() //nolint:forbidigo // measures a duration
	d.refused.Store(&now)
}

// Err is KindUnavailable if a change was refused within the last seconds.
func (d *Disk) Err() error {
	if at := d.refused.Load(); at == nil || time.Since(*at) > fullFor {
		return nil
	}
	return &memory.Error{
		Kind: memory.KindUnavailable, Reason: memory.ReasonDiskFull,
		Err: errors.New("the disk of the database is full and changes are refused: make room there"),
	}
}
