/* SPDX-License-Identifier: GPL-3.0-or-later */

/* The first process of the machine of on-aarch64: runs the lines of /commands
 * in /work, prints what each of them returned and then each capture, as
 * hexadecimal digits between the lines "capture: NAME" and "end:", and switches
 * off. */

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/wait.h>
#include <unistd.h>

static void
run (char *line)
{
  char *words[100], *rest = NULL;
  int n = 0, status = 0;
  pid_t pid;

  printf ("== %s\n", line);
  fflush (stdout);
  for (char *word = strtok_r (line, " ", &rest); word && n < 99;
       word = strtok_r (NULL, " ", &rest))
    words[n++] = word;
  words[n] = NULL;
  if (n == 0)
    return;
  pid = fork ();
  if (pid == 0)
    {
      execv (words[0], words);
      perror (words[0]);
      _exit (127);
    }
  while (waitpid (pid, &status, 0) < 0)
    ;
  printf ("status %d\n",
          WIFEXITED (status) ? WEXITSTATUS (status) : 128 + WTERMSIG (status));
}

static void
print_capture (const char *name)
{
  FILE *file = fopen (name, "r");
  int byte;

  if (!file)
    return;
  printf ("capture: %s\n", name);
  for (long n = 1; (byte = getc (file)) != EOF; n++)
    printf (n % 40 ? "%02x" : "%02x\n", byte);
  printf ("\nend:\n");
  fclose (file);
}

int
main (void)
{
  char line[4096];
  FILE *commands = fopen ("/commands", "r");
  DIR *dir;
  struct dirent *entry;

  mount ("proc", "/proc", "proc", 0, NULL);
  mount ("sys", "/sys", "sysfs", 0, NULL);
  mount ("dev", "/dev", "devtmpfs", 0, NULL);
  mount ("tmp", "/tmp", "tmpfs", 0, NULL);
  setenv ("FLAMBEAU_ALLOC_LIB", "/work/libflambeau-alloc.so", 1);
  setenv ("HOME", "/tmp", 1);
  if (!commands || chdir ("/work") != 0)
    return 1;
  while (fgets (line, sizeof line, commands))
    {
      line[strcspn (line, "\n")] = '\0';
      run (line);
    }
  dir = opendir (".");
  while (dir && (entry = readdir (dir)))
    if (strstr (entry->d_name, ".flambeau"))
      print_capture (entry->d_name);
  fflush (stdout);
  sync ();
  reboot (RB_POWER_OFF);
  return 0;
}
