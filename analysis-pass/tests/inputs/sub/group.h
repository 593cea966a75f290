#ifndef GROUP_H
#define GROUP_H
#define SEVEN 7
int group(int d) { return get_group_id(d); }
#endif
