package rowcodec

import "hippocampus/internal/memory"

// CheckConsolidation refuses a consolidation of another owner than a
// transaction's, or with an id that is not one. KindNotFound, KindInvalid.
func CheckConsolidation(owner memory.Owner, c memory.Consolidation) error {
	if c.Owner != owner {
		return memory.Errorf(memory.KindNotFound, "consolidation %s is of another user than the transaction: open one for its owner", c.ID)
	}
	if !memory.IsID(c.ID) {
		return memory.Errorf(memory.KindInvalid, "the id %q of a consolidation is no id: give a lower-case UUID", Storable(c.ID))
	}
	return nil
}
