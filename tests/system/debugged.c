/* What a debugger is tried on: a loop whose steps are told beforehand. */

unsigned turns;
unsigned total;
/* What others may change while the loop runs. */
volatile unsigned stride;

__attribute__((noipa)) static unsigned sum(unsigned first, unsigned second)
{
    return first + second;
}

__attribute__((noipa)) static void turn(unsigned step)
{
    turns += step;
    total = sum(total, turns);
}

int main(void)
{
    turns = 0;
    total = 0;
    stride = 1;
    for (;;) {
        turn(stride);
    }
}
