package memorytool

import (
	"strings"
	"testing"
)

// The texts are those of BetaLocalFilesystemMemoryTool of the package anthropic 2.12.0, except for the last group.
func TestRun_AnswersInTheWordsOfTheReference(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	const noFile = " does not exist. Please provide a valid path."
	steps := []struct {
		command Command
		want    string
		isError bool
	}{
		{command: view("/memories"), want: listing("/memories") + "4K\t/memories"},
		{command: create("/memories/a.md", "one\ntwo\nthree\n"), want: "File created successfully at: /memories/a.md"},
		{command: create("/memories/a.md", "x"), want: "File /memories/a.md already exists", isError: true},
		{command: create("/memories", "x"), want: "File /memories already exists", isError: true},
		{command: create("/memories/empty", ""), want: "File created successfully at: /memories/empty"},
		{command: view("/memories/empty"), want: numberedOf("/memories/empty") + "     1\t"},
		{command: insert("/memories/empty", 0, "x\n\n"), want: "The file /memories/empty has been edited."},
		{command: view("/memories/empty"), want: numberedOf("/memories/empty") + "     1\tx\n     2\t"},
		{command: view("/memories/a.md"),
			want: numberedOf("/memories/a.md") + "     1\tone\n     2\ttwo\n     3\tthree\n     4\t"},
		{command: view("/memories/a.md", 2, 3), want: numberedOf("/memories/a.md") + "     2\ttwo\n     3\tthree"},
		{command: view("/memories/a.md", 3, -1), want: numberedOf("/memories/a.md") + "     3\tthree\n     4\t"},
		{command: view("/memories/a.md", -7, 1), want: numberedOf("/memories/a.md") + "     1\tone"},
		{command: view("/memories/a.md", 1, -3), want: numberedOf("/memories/a.md") + "     1\tone"},
		{command: view("/memories/a.md", 9, 12), want: numberedOf("/memories/a.md")},
		{command: view("/memories/a.md", 3, 2), want: numberedOf("/memories/a.md")},
		{command: view("/memories/none"), want: "The path /memories/none" + noFile, isError: true},
		{command: view("/memories/a.md/x"), want: "The path /memories/a.md/x" + noFile, isError: true},
		{command: replace("/memories/a.md", "two", "2"), want: edited + "     1\tone\n     2\t2\n     3\tthree\n     4\t"},
		{command: replace("/memories/a.md", "four", "4"), isError: true,
			want: "No replacement was performed, old_str `four` did not appear verbatim in /memories/a.md."},
		{command: replace("/memories/a.md", "e", "E"), isError: true, want: "No replacement was performed. " +
			"Multiple occurrences of old_str `e` in lines: 1, 3, 3. Please ensure it is unique"},
		{command: replace("/memories/a.md", "\n", ""), isError: true, want: "No replacement was performed. " +
			"Multiple occurrences of old_str `\n` in lines: 1, 2, 3. Please ensure it is unique"},
		{command: replace("/memories/none", "a", "b"), want: "The path /memories/none" + noFile, isError: true},
		{command: replace("/memories", "a", "b"), want: "The path /memories is not a file.", isError: true},
		{command: insert("/memories/a.md", 1, "between\n"), want: "The file /memories/a.md has been edited."},
		{command: insert("/memories/a.md", 4, "last"), want: "The file /memories/a.md has been edited."},
		{command: view("/memories/a.md"),
			want: numberedOf("/memories/a.md") +
				"     1\tone\n     2\tbetween\n     3\t2\n     4\tthree\n     5\tlast\n     6\t"},
		{command: insert("/memories/a.md", 6, "x"), isError: true,
			want: "Invalid `insert_line` parameter: 6. It should be within the range [0, 5]."},
		{command: insert("/memories/a.md", -1, "x"), isError: true,
			want: "Invalid `insert_line` parameter: -1. It should be within the range [0, 5]."},
		{command: insert("/memories/none", 0, "x"), want: "The path /memories/none" + noFile, isError: true},
		{command: rename("/memories/a.md", "/memories/b/c/d.md"),
			want: "Successfully renamed /memories/a.md to /memories/b/c/d.md"},
		{command: rename("/memories/a.md", "/memories/x"), want: "The path /memories/a.md does not exist", isError: true},
		{command: rename("/memories/empty", "/memories/b"), isError: true,
			want: "The destination /memories/b already exists"},
		{command: rename("/memories", "/memories/x"), want: "Cannot rename the /memories directory itself", isError: true},
		{command: rename("/memories/empty", "/memories"), want: "The destination /memories already exists", isError: true},
		{command: create("/memories/b/big", strings.Repeat("x", 1536)),
			want: "File created successfully at: /memories/b/big"},
		{command: create("/memories/.hidden", "x"), want: "File created successfully at: /memories/.hidden"},
		{command: create("/memories/b.txt", "é"), want: "File created successfully at: /memories/b.txt"},
		{command: view("/memories"), want: listing("/memories") + "4K\t/memories\n4K\t/memories/b/\n1.5K\t/memories/b/big\n" +
			"4K\t/memories/b/c/\n2B\t/memories/b.txt\n2B\t/memories/empty"},
		{command: view("/memories/b/"), want: listing("/memories/b/") + "4K\t/memories/b/\n1.5K\t/memories/b//big\n" +
			"4K\t/memories/b//c/\n25B\t/memories/b//c/d.md"},
		{command: remove("/memories"), want: "Cannot delete the /memories directory itself", isError: true},
		{command: remove("/memories/none"), want: "The path /memories/none does not exist", isError: true},
		{command: remove("/memories/b"), want: "Successfully deleted /memories/b"},
		{command: remove("/memories/./b.txt"), want: "Successfully deleted /memories/./b.txt"},
		{command: view("/memories"), want: listing("/memories") + "4K\t/memories\n2B\t/memories/empty"},
		{command: view("/tmp"), want: "Path must start with /memories, got: /tmp", isError: true},
		{command: view("/memories/../etc"), want: "Path /memories/../etc would escape /memories directory", isError: true},

		// The reference raises other errors here.
		{command: create("/memories/empty/x", "x"), isError: true,
			want: "Path /memories/empty/x cannot be used: /memories/empty is a file and not a directory"},
		{command: rename("/memories/empty", "/memories/empty/x"), isError: true,
			want: "Cannot rename /memories/empty to /memories/empty/x, which is inside it"},
	}
	for _, s := range steps {
		if got := f.run(ada, s.command); got.Content != s.want || got.IsError != s.isError {
			t.Errorf("%+v:\n%q, error %t, want\n%q, error %t", s.command, got.Content, got.IsError, s.want, s.isError)
		}
	}
}

func listing(path string) string {
	return "Here're the files and directories up to 2 levels deep in " + path + ", excluding hidden items:\n"
}

func numberedOf(path string) string { return "Here's the content of " + path + " with line numbers:\n" }

const edited = "The memory file has been edited. Here is the snippet showing the change (with line numbers):\n"

// As the reference computes them.
func TestSizeText_IsThatOfTheReference(t *testing.T) {
	t.Parallel()
	for bytes, want := range map[int]string{
		0: "0B", 1: "1B", 1023: "1023B", 1024: "1K", 1025: "1.0K", 1536: "1.5K", 5700: "5.6K", 102400: "100K",
		1048575: "1024.0K", 1 << 20: "1M", 1300000: "1.2M",
	} {
		if got := sizeText(bytes); got != want {
			t.Errorf("%d bytes: %q, want %q", bytes, got, want)
		}
	}
}
