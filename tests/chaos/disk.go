package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
)

// disk is a small disk in memory, which gets full.
type disk struct{ folder string }

// mount mounts a disk of some MiB.
func mount(folder string, mib int) (*disk, error) {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, err
	}
	out, err := exec.Command("mount", "-t", "tmpfs", "-o", fmt.Sprintf("size=%dm", mib), "tmpfs", folder).CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("mount a disk at %s, which needs root: %w: %s", folder, err, out)
	}
	return &disk{folder}, nil
}

// fill fills the disk to the last byte, and makes room again.
func (d *disk) fill(ctx context.Context, r *rand.Rand, n *Counts) error {
	filler := filepath.Join(d.folder, "filler")
	for wait(ctx, betweenFills.choose(r)) {
		n.Fills.Add(1)
		if err := exhaust(filler); !errors.Is(err, syscall.ENOSPC) {
			return fmt.Errorf("fill the disk: %w", err)
		}
		wait(ctx, faultTime.choose(r))
		if err := os.Remove(filler); err != nil {
			return err
		}
	}
	return nil
}

// exhaust writes to a file until that fails.
func exhaust(path string) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	block := make([]byte, 1<<16)
	for err == nil {
		_, err = file.Write(block)
	}
	return errors.Join(err, file.Close())
}

func (d *disk) unmount() error { return exec.Command("umount", d.folder).Run() }
