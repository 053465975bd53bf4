package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os/exec"

	"hippocampus/cmd/bench/target"
)

// service is a store that scripts/services runs, and that crashes.
type service struct{ name, folder string }

// servicesOf are the services of a size, kept in a folder.
func servicesOf(size target.Size, folder string) []service {
	if size == target.Pgvector {
		return []service{{"pgvector", folder}}
	}
	return []service{{"postgres", folder}, {"milvus", folder}}
}

// crash kills the store without a warning, and starts it again.
func (s service) crash(ctx context.Context, r *rand.Rand, n *Counts) error {
	for wait(ctx, betweenCrashes.choose(r)) {
		n.Crashes.Add(1)
		if err := s.run("crash"); err != nil {
			return err
		}
		wait(ctx, downTime.choose(r))
		if err := s.run("up"); err != nil { // also if ctx is done, since the stores are inspected
			return err
		}
	}
	return nil
}

func (s service) run(command string) error {
	c := exec.Command("scripts/services", "--dir", s.folder, command, s.name)
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", c, err, out)
	}
	return nil
}
