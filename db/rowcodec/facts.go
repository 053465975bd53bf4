package rowcodec

import "hippocampus/internal/memory"

// CheckFact refuses a fact of another owner than a transaction's, or with an
// id that is not one. KindNotFound, KindInvalid.
func CheckFact(owner memory.Owner, f memory.Fact) error {
	if f.Owner != owner {
		return memory.Errorf(memory.KindNotFound, "fact %s is of another user than the transaction: open one for its owner", f.ID)
	}
	for field, id := range map[string]string{"id": f.ID, "memory_id": f.MemoryID} {
		if !memory.IsID(id) && (id != "" || field == "id") {
			return memory.Errorf(memory.KindInvalid, "the %s %q of a fact is no id: give a lower-case UUID", field, Storable(id))
		}
	}
	return nil
}
