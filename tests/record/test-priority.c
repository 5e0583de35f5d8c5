/* SPDX-License-Identifier: GPL-3.0-or-later */

/* The requests to RealtimeKit; here the service is scripted. */

#include <gio/gio.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "flam-priority.h"

static const char interface[] =
    "<node><interface name='org.freedesktop.RealtimeKit1'>"
    "<method name='MakeThreadRealtime'>"
    "<arg type='t' direction='in'/><arg type='u' direction='in'/></method>"
    "<method name='MakeThreadHighPriority'>"
    "<arg type='t' direction='in'/><arg type='i' direction='in'/></method>"
    "<property name='RTTimeUSecMax' type='x' access='read'/>"
    "<property name='MinNiceLevel' type='i' access='read'/>"
    "</interface></node>";

typedef struct
{
  GMainLoop *loop;
  gboolean refuses;
  char *asked;
} Service;

static void
answer (GDBusConnection *bus,
        const char *sender,
        const char *path,
        const char *name,
        const char *method,
        GVariant *arguments,
        GDBusMethodInvocation *call,
        gpointer data)
{
  Service *service = data;
  gboolean realtime = strcmp (method, "MakeThreadRealtime") == 0;
  g_autofree char *text = g_variant_print (arguments, FALSE);
  g_autofree char *before = service->asked;
  struct rlimit limit;

  (void)bus, (void)sender, (void)path, (void)name;
  getrlimit (RLIMIT_RTTIME, &limit);
  service->asked = g_strdup_printf ("%s%s%s, limits %d %d\n",
                                    before,
                                    method,
                                    text,
                                    (int)limit.rlim_cur,
                                    (int)limit.rlim_max);
  if (realtime && service->refuses)
    g_dbus_method_invocation_return_error (
        call, G_DBUS_ERROR, G_DBUS_ERROR_ACCESS_DENIED, "no");
  else
    {
      g_dbus_method_invocation_return_value (call, NULL);
      g_main_loop_quit (service->loop);
    }
}

static GVariant *
property (GDBusConnection *bus,
          const char *sender,
          const char *path,
          const char *name,
          const char *which,
          GError **error,
          gpointer data)
{
  (void)bus, (void)sender, (void)path, (void)name, (void)error, (void)data;
  return strcmp (which, "MinNiceLevel") == 0 ? g_variant_new_int32 (-11)
                                             : g_variant_new_int64 (160000);
}

static const GDBusInterfaceVTable vtable = { answer, property, NULL, { 0 } };

static void
begin (GDBusConnection *bus, const char *name, gpointer data)
{
  (void)bus, (void)name, (void)data;
  flam_priority_request ();
}

static gboolean
give_up (gpointer data)
{
  (void)data;
  g_test_message ("the service was not asked");
  abort ();
}

/* The requests of a thread that wants priority, to a service that grants or
 * refuses it. */
static void
test_request (void)
{
  g_autoptr (GTestDBus) daemon = g_test_dbus_new (G_TEST_DBUS_NONE);
  g_autoptr (GDBusNodeInfo) node =
      g_dbus_node_info_new_for_xml (interface, NULL);
  g_autoptr (GDBusConnection) bus = NULL;
  g_autoptr (GMainLoop) loop = g_main_loop_new (NULL, FALSE);
  g_autofree char *realtime = g_strdup_printf (
      "MakeThreadRealtime(%d, 1), limits 80000 160000\n", (int)getpid ());
  g_autofree char *nice = g_strdup_printf (
      "MakeThreadHighPriority(%d, -11), limits 80000 160000\n", (int)getpid ());
  g_autofree char *both = g_strconcat (realtime, nice, NULL);
  guint guard = g_timeout_add_seconds (60, give_up, NULL);

  g_test_dbus_up (daemon);
  g_setenv (
      "DBUS_SYSTEM_BUS_ADDRESS", g_test_dbus_get_bus_address (daemon), TRUE);
  bus = g_dbus_connection_new_for_address_sync (
      g_test_dbus_get_bus_address (daemon),
      G_DBUS_CONNECTION_FLAGS_AUTHENTICATION_CLIENT |
          G_DBUS_CONNECTION_FLAGS_MESSAGE_BUS_CONNECTION,
      NULL,
      NULL,
      NULL);
  for (guint refuses = 0; refuses < 2; refuses++)
    {
      Service service = { loop, refuses != 0, g_strdup ("") };
      guint object =
          g_dbus_connection_register_object (bus,
                                             "/org/freedesktop/RealtimeKit1",
                                             node->interfaces[0],
                                             &vtable,
                                             &service,
                                             NULL,
                                             NULL);
      guint owner =
          g_bus_own_name_on_connection (bus,
                                        "org.freedesktop.RealtimeKit1",
                                        G_BUS_NAME_OWNER_FLAGS_NONE,
                                        begin,
                                        NULL,
                                        NULL,
                                        NULL);

      g_main_loop_run (loop);
      g_assert_cmpstr (service.asked, ==, refuses ? both : realtime);
      g_free (service.asked);
      g_bus_unown_name (owner);
      g_dbus_connection_unregister_object (bus, object);
    }
  g_source_remove (guard);
  g_test_dbus_down (daemon);
}

/* When the kernel warns that the thread has not slept for too long, it loses
 * its priority, but is not ended. */
static void
test_limit (void)
{
  const struct sched_param first = { .sched_priority = 1 };
  gboolean may =
      sched_setscheduler (0, SCHED_RR | SCHED_RESET_ON_FORK, &first) == 0;

  g_assert_cmpint (flam_priority_is_first (), ==, may);
  raise (SIGXCPU);
  g_assert_false (flam_priority_is_first ());
}

int
main (int argc, char **argv)
{
  g_autofree char *daemon = g_find_program_in_path ("dbus-daemon");

  g_test_init (&argc, &argv, NULL);
  if (daemon != NULL)
    {
      g_test_add_func ("/priority/request", test_request);
      g_test_add_func ("/priority/limit", test_limit);
    }
  return g_test_run ();
}
