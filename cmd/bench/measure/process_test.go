package measure

import (
	"net"
	"os"
	"os/exec"
	"slices"
	"testing"
)

func TestListener_FindsTheProcessOfAPort(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := listener.Addr().(*net.TCPAddr).Port
	if p, err := Listener(port); err != nil || p != Process(os.Getpid()) {
		t.Errorf("the listener is %d, %v, not %d", p, err, os.Getpid())
	}
	listener.Close()
	if p, err := Listener(port); err != nil || p != 0 {
		t.Errorf("the listener of a closed port is %d, %v", p, err)
	}
}

func TestProcess_SumsItsTree(t *testing.T) {
	t.Parallel()
	child := exec.Command("cat")
	input, err := child.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		input.Close()
		_ = child.Wait()
	}()
	self := Process(os.Getpid())
	tree, err := self.Tree()
	if err != nil || tree[0] != self || !slices.Contains(tree, Process(child.Process.Pid)) {
		t.Errorf("the tree is %v, %v, without %d", tree, err, child.Process.Pid)
	}
	own, err := self.OwnUsage()
	if err != nil || own.Memory < 1<<20 {
		t.Errorf("own usage is %+v, %v", own, err)
	}
	if u, err := self.Usage(); err != nil || u.Memory < 1<<20 || u.CPU < own.CPU {
		t.Errorf("usage is %+v, %v, of which its own is %+v", u, err, own)
	}
}

func TestProcess_PinsAndUnpins(t *testing.T) {
	t.Parallel()
	child := exec.Command("cat")
	input, err := child.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		input.Close()
		_ = child.Wait()
	}()
	p := Process(child.Process.Pid)
	former, err := p.cores()
	if err != nil {
		t.Fatal(err)
	}
	core := former[:1]
	unpin, err := p.Pin(core)
	if err != nil {
		t.Fatal(err)
	}
	if now, err := p.cores(); err != nil || now != core {
		t.Errorf("it runs on %q, %v, not on %s", now, err, core)
	}
	if err := unpin(); err != nil {
		t.Error(err)
	}
	if now, err := p.cores(); err != nil || now != former {
		t.Errorf("afterwards it runs on %q, %v, not on %s", now, err, former)
	}
}
