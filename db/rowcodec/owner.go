package rowcodec

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// OwnerHash is the SHA-256 that identifies an owner after an erasure. Ids hold no
// NUL, so that the hashed texts of two owners differ.
func OwnerHash(owner memory.Owner) []byte {
	sum := sha256.Sum256([]byte(owner.AppID + "\x00" + owner.UserID))
	return sum[:]
}

// OwnerLock names the owner among Postgres' advisory locks. Two owners with the
// same key only wait for each other.
func OwnerLock(owner memory.Owner) int64 { return int64(binary.BigEndian.Uint64(OwnerHash(owner))) }

// TurnsLock names the owner's turns among the advisory locks, as OwnerLock names
// the rest. Take OwnerLock first when taking both.
func TurnsLock(owner memory.Owner) int64 { return int64(binary.BigEndian.Uint64(OwnerHash(owner)[8:])) }

// ErasedJSON is the column of an erasure's counts.
func ErasedJSON(e db.Erased) string {
	b, _ := json.Marshal(e) // numbers only: cannot fail
	return string(b)
}

// Erased is the inverse of ErasedJSON.
func Erased(column []byte) (e db.Erased, err error) {
	err = json.Unmarshal(column, &e)
	return e, err
}
