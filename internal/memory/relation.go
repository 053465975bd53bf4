package memory

import "time"

// Relation links two memories: From <kind> To.
type Relation struct {
	From, To  string // ids of two memories of one owner
	Kind      RelationKind
	CreatedAt time.Time
}

// RelationKind names a relation.
type RelationKind string

// The relations.
const (
	DerivedFrom RelationKind = "derived_from" // from a reflection or summary to one of its sources
	Supports    RelationKind = "supports"
	Contradicts RelationKind = "contradicts" // from a memory to the one it replaced
	Refines     RelationKind = "refines"     // from a memory to the one it made more precise
)

// RelationKinds lists every relation.
var RelationKinds = []RelationKind{DerivedFrom, Supports, Contradicts, Refines}

// TypeReflection and TypeSummary are the types of memories that are derived
// from other memories.
const (
	TypeReflection Type = "reflection"
	TypeSummary    Type = "summary"
)
