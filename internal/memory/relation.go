package memory

import "time"

// Relation says how one memory stands to another: From <kind> To.
type Relation struct {
	From, To  string // ids of two memories of one owner
	Kind      RelationKind
	CreatedAt time.Time
}

// RelationKind names a relation.
type RelationKind string

// The relations.
const (
	DerivedFrom RelationKind = "derived_from" // a reflection or summary, from its sources
	Supports    RelationKind = "supports"
	Contradicts RelationKind = "contradicts" // the newer one, the one it replaced
	Refines     RelationKind = "refines"     // the newer one, the one it made more exact
)

// RelationKinds lists every relation.
var RelationKinds = []RelationKind{DerivedFrom, Supports, Contradicts, Refines}

// TypeReflection and TypeSummary are the types of memories that are made from
// others.
const (
	TypeReflection Type = "reflection"
	TypeSummary    Type = "summary"
)
