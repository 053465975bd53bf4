package db

import (
	"context"

	"hippocampus/internal/memory"
)

// Policies keeps what each app remembers, in versions. The newest version serves.
type Policies interface {
	// NewestPolicy returns the policy that serves; the zero value without one.
	NewestPolicy(ctx context.Context, appID string) (memory.PolicyVersion, error)
	// PolicyVersions lists the versions of an app's policy that have a number below one, or all for 0, newest first.
	PolicyVersions(ctx context.Context, appID string, below, limit int) ([]memory.PolicyVersion, error)
	// AddPolicy stores the next version and returns it with its Number. The app keeps its newest
	// memory.MaxPolicyVersions. Several processes may add versions at once.
	AddPolicy(ctx context.Context, v memory.PolicyVersion) (memory.PolicyVersion, error)
}
