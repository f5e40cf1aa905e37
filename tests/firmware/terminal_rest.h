/* The rest of the terminal server for tests that include its files, and in which it has nothing to do. Behind them. */
#ifndef TIERV_TESTS_TERMINAL_REST_H
#define TIERV_TESTS_TERMINAL_REST_H

context_posts_t context_posts;
serial_t serial_ports[UARTS];

void serial_ports_init(const serial_user_t *user, uint32_t priority)
{
    (void)user;
    (void)priority;
}

const serial_user_t *serial_ports_user(uint32_t port)
{
    (void)port;
    return &terminal;
}

uint32_t terminal_lock(const terminal_port_t *port)
{
    (void)port;
    return 0;
}

void terminal_unlock(uint32_t before)
{
    (void)before;
}

void terminal_count_errors(terminal_port_t *port)
{
    (void)port;
}

void terminal_hold_settings(terminal_port_t *port)
{
    (void)port;
}

control_outcome_t control_answer(control_port_t *const *ports, uint32_t count, const uint8_t *request,
                                 uint32_t bytes, control_peer_t source, uint8_t *answer, uint32_t room)
{
    (void)ports;
    (void)count;
    (void)request;
    (void)bytes;
    (void)source;
    (void)answer;
    (void)room;
    return (control_outcome_t){.port = -1};
}

#endif
