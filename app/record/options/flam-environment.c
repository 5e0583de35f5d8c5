/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-environment.h"

#include <string.h>

/* The value that the assignment's variable has; NULL: none. */
static const char *
value_in (const char *const *environment, const char *assignment)
{
  gsize n = strcspn (assignment, "=") + 1;
  const char *value = NULL;

  for (guint i = 0; environment != NULL && environment[i] != NULL; i++)
    if (strncmp (environment[i], assignment, n) == 0)
      value = environment[i] + n;
  return value;
}

static const char *
value_of (const char *assignment)
{
  const char *equals = strchr (assignment, '=');

  return equals != NULL ? equals + 1 : "";
}

/* Whether `options` has the words of `option` one after another. */
static gboolean
has_option (const char *options, const char *option)
{
  gsize n = strlen (option);

  for (const char *found = strstr (options, option); found != NULL;
       found = strstr (found + 1, option))
    if ((found == options || found[-1] == ' ') &&
        (found[n] == '\0' || found[n] == ' '))
      return TRUE;
  return FALSE;
}

gboolean
flam_environment_has (const char *const *environment, const char *assignment)
{
  const char *value = value_in (environment, assignment);
  const char *wanted = value_of (assignment);

  if (value == NULL)
    return FALSE;
  return *wanted == '-' || *wanted == '+' ? has_option (value, wanted)
                                          : strcmp (value, wanted) == 0;
}

char *
flam_environment_add (const char *const *environment, const char *assignment)
{
  const char *value = value_in (environment, assignment);
  const char *wanted = value_of (assignment);

  if (value == NULL || *value == '\0' || (*wanted != '-' && *wanted != '+'))
    return g_strdup (assignment);
  if (flam_environment_has (environment, assignment))
    return g_strdup_printf (
        "%.*s%s", (int)(wanted - assignment), assignment, value);
  return g_strdup_printf (
      "%.*s%s %s", (int)(wanted - assignment), assignment, value, wanted);
}
