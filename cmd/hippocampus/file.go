package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"hippocampus/cmd/hippocampus/remote"
	"hippocampus/internal/memoryfile"
)

// errConflicts ends a command that has printed conflicts.
var errConflicts = errors.New("the file and the server changed the same memories")

// fileFlags are the flags of the commands of a memory file.
type fileFlags struct {
	user, agent string
	yes         bool
	every       time.Duration
}

func fileCommand(o *overrides) *cobra.Command {
	root := &cobra.Command{
		Use: "file", Short: "Keep a user's memories as a Markdown file on this machine", Args: noSubcommand, RunE: help,
		Long: `Keep a user's memories as a Markdown file on this machine.

A file called learnings.md has the instructions and skills, any other file all memories. One bullet is one of them.
A file called MEMORY.md is an index of at most 200 lines; the bullets are in the folder topics, a file a section.
Add, change and remove bullets in any editor; sync exchanges the changes with a server.
Exit 2: the file and the server changed the same memory; the file then has both texts.`,
		Example: "  hippocampus file pull notes.md --user ada\n  hippocampus file sync notes.md --user ada",
	}
	root.AddCommand(
		fileSubcommand(o, "pull FILE", "Write the memories to a file; --yes overwrites one", memoryFile.pull),
		fileSubcommand(o, "push FILE", "Send a file, unless the server's memories changed since", memoryFile.push),
		fileSubcommand(o, "sync FILE", "Exchange the changes of a file and of the server", memoryFile.syncOnce),
		fileSubcommand(o, "watch FILE", "Synchronize whenever the file or the server changes, until interrupted",
			memoryFile.watch),
	)
	return root
}

func fileSubcommand(o *overrides, use, short string, run func(memoryFile, *cobra.Command) error) *cobra.Command {
	var flags fileFlags
	name, _, _ := strings.Cut(use, " ")
	cmd := &cobra.Command{Use: use, Short: short, Example: "  hippocampus file " + name + " notes.md --user ada"}
	cmd.Flags().StringVar(&flags.agent, "agent", "", "`agent` whose memories these are (default: those of no agent)")
	cmd.Flags().BoolVar(&flags.yes, "yes", false, "overwrite a file (pull), or forget many memories (sync, push, watch)")
	cmd.Flags().DurationVar(&flags.every, "every", 5*time.Second, "how often watch asks the server, at least 100ms")
	server := o.connectionFlags(cmd)
	server.AddUser(cmd)
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if flags.every < 100*time.Millisecond {
			return errors.New("--every is less than 100ms")
		}
		return cobra.ExactArgs(1)(cmd, args)
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) (err error) {
		to, err := server.Open(cmd.Context(), cmd.InOrStdin())
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, to.Close()) }()
		if flags.user, err = to.NeedUser(); err != nil {
			return err
		}
		path, err := resolve(args[0])
		if err != nil {
			return err
		}
		return run(memoryFile{Server: to.Server, fileFlags: flags, name: args[0], path: path}, cmd)
	}
	return cmd
}

// memoryFile is a file and the server whose memories it shows.
type memoryFile struct {
	remote.Server
	fileFlags
	name string // as it was given
	path string // without symbolic links
}

// pull writes the server's file.
func (f memoryFile) pull(cmd *cobra.Command) error {
	file, _, err := f.get(cmd.Context(), "")
	if err != nil {
		return err
	}
	if f.hasTopics() {
		if file, err = memoryfile.ArrangeTopics(file); err != nil {
			return err
		}
	}
	if !f.yes {
		old, exists, err := f.read()
		if err != nil {
			return err
		}
		if exists && old != file {
			return fmt.Errorf("%s exists: sync keeps its changes, pull --yes overwrites it", f.path)
		}
	}
	return f.write(cmd.Context(), file)
}

// push sends the file if the server's memories have not changed since the file was written.
func (f memoryFile) push(cmd *cobra.Command) error {
	file, exists, err := f.read()
	if err != nil {
		return err
	}
	if !exists {
		return fmt.Errorf("there is no file %s: pull writes it", f.path)
	}
	d, err := f.form().Parse(file)
	if err != nil {
		return err
	}
	return f.exchange(cmd, d.Revision)
}

func (f memoryFile) syncOnce(cmd *cobra.Command) error { return f.exchange(cmd, "") }

// exchange synchronizes and prints what was done.
func (f memoryFile) exchange(cmd *cobra.Command, revision string) error {
	done, err := f.sync(cmd.Context(), revision)
	if err != nil {
		return err
	}
	return f.print(cmd, done)
}

// print prints a report. It returns errConflicts if there are conflicts.
func (f memoryFile) print(cmd *cobra.Command, done synced) error {
	fmt.Fprintf(cmd.OutOrStdout(), "%s: %d added, %d changed, %d forgotten, %d from the server, %d conflicts\n",
		f.path, len(done.Added), len(done.Changed), len(done.Forgotten), len(done.Shown), len(done.Conflicts))
	if done.Secrets > 0 {
		fmt.Fprintf(cmd.ErrOrStderr(), "hippocampus: secrets are not remembered: %d became [secret] in %s\n",
			done.Secrets, f.path)
	}
	if len(done.Conflicts) == 0 {
		return nil
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "hippocampus: %v: the file has both texts; remove one, and the line %q\n",
		errConflicts, "<!-- conflict: ... -->")
	return errConflicts
}

// query names the memories of the file.
func (f memoryFile) query() string {
	query := url.Values{"user_id": {f.user}}
	if f.agent != "" {
		query.Set("agent_id", f.agent)
	}
	return "/v1/files/" + f.form().Name + "?" + query.Encode()
}

// form is the form in which the file is exchanged.
func (f memoryFile) form() *memoryfile.Form {
	if strings.EqualFold(filepath.Base(f.name), memoryfile.Learnings.Name) {
		return memoryfile.Learnings
	}
	return memoryfile.Memories
}

// read reads the file in the form that the server accepts.
func (f memoryFile) read() (file string, exists bool, err error) {
	if f.hasTopics() {
		return f.readTopics()
	}
	return readFile(f.path)
}

// write writes a file of the server.
func (f memoryFile) write(ctx context.Context, file string) error {
	if f.hasTopics() {
		return f.writeTopics(ctx, file)
	}
	return replace(f.path, file)
}

func readFile(path string) (text string, exists bool, err error) {
	raw, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return "", false, nil
	}
	return string(raw), err == nil, err
}
