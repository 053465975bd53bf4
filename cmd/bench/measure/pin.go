package measure

import (
	"errors"
	"fmt"
	"os/exec"
	"strings"
)

// Pin binds a process and its descendants to cores, such as "0" or "0-1". unpin lets the
// process and all descendants that it has by then run on its former cores again.
func (p Process) Pin(cores string) (unpin func() error, err error) {
	tree, err := p.Tree()
	if err != nil {
		return nil, err
	}
	former, err := p.cores()
	if err != nil {
		return nil, err
	}
	for _, process := range tree {
		if e := process.bind(cores); e != nil && process == p {
			return nil, e // a descendant may have ended
		}
	}
	return func() error {
		tree, err := p.Tree()
		if err != nil {
			return err
		}
		err = p.bind(former)
		for _, process := range tree[1:] {
			_ = process.bind(former) // it may have ended
		}
		return err
	}, nil
}

// cores lists the cores that the process may use.
func (p Process) cores() (string, error) {
	out, err := exec.Command("taskset", "-c", "-p", fmt.Sprint(int(p))).Output()
	if err != nil {
		return "", fmt.Errorf("taskset does not show the cores of process %d: %w", p, err)
	}
	_, cores, _ := strings.Cut(string(out), "list: ")
	return strings.TrimSpace(cores), nil
}

// bind restricts all threads of the process to cores.
func (p Process) bind(cores string) error {
	out, err := exec.Command("taskset", "-a", "-c", "-p", cores, fmt.Sprint(int(p))).CombinedOutput()
	if err != nil {
		return errors.Join(fmt.Errorf("bind process %d to cores %s: %s", p, cores, out), err)
	}
	return nil
}
